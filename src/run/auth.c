#include "run/auth.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#ifdef BATS_HAVE_MUNGE
#include <munge.h>
#endif
#ifdef BATS_HAVE_NETTLE
#include <nettle/hmac.h>
#include <nettle/memops.h>
#endif

#define LIFETIME_S 60 /* of a credential: the clocks of nodes differ */
#define PURPOSE "bats-mpi worker"
#define TEXT_MAX (sizeof PURPOSE + 1 + 2 * BATS_PROTO_NONCE + BATS_PROTO_JOB)

/* Each part but the last has a fixed length, so that no two texts have the
 * same bytes. */
static size_t write_text(const struct bats_auth_text *text,
                         uint8_t bytes[TEXT_MAX])
{
    uint8_t *at = bytes;
    memcpy(at, PURPOSE, sizeof PURPOSE);
    at += sizeof PURPOSE;
    *at++ = text->by_master ? 'M' : 'G';
    memcpy(at, text->master_nonce, BATS_PROTO_NONCE);
    at += BATS_PROTO_NONCE;
    memcpy(at, text->gateway_nonce, BATS_PROTO_NONCE);
    at += BATS_PROTO_NONCE;
    size_t n = strnlen(text->job, BATS_PROTO_JOB - 1);
    memcpy(at, text->job, n);
    return (size_t)(at - bytes) + n;
}

const char *bats_auth_name(enum bats_auth_way way)
{
    return way == BATS_AUTH_MUNGE    ? "munge"
           : way == BATS_AUTH_SECRET ? "secret"
                                     : "none";
}

enum bats_auth_way bats_auth_find(const char *name)
{
    return strcmp(name, "munge") == 0    ? BATS_AUTH_MUNGE
           : strcmp(name, "secret") == 0 ? BATS_AUTH_SECRET
                                         : BATS_AUTH_NONE;
}

int bats_auth_random(uint8_t *bytes, size_t n, struct bats_error *err)
{
    if (getrandom(bytes, n, 0) == (ssize_t)n)
        return 0;
    return bats_error_set(err, BATS_ESYS, "no random bytes: %s",
                          strerror(errno));
}

/* ---- MUNGE ---- */

#ifdef BATS_HAVE_MUNGE

static munge_ctx_t context_of(const struct bats_auth *auth)
{
    munge_ctx_t context = munge_ctx_create();
    if (context == NULL)
        return NULL;
    if (munge_ctx_set(context, MUNGE_OPT_TTL, LIFETIME_S) == EMUNGE_SUCCESS &&
        munge_ctx_set(context, MUNGE_OPT_UID_RESTRICTION, geteuid()) ==
            EMUNGE_SUCCESS &&
        (auth->socket[0] == '\0' ||
         munge_ctx_set(context, MUNGE_OPT_SOCKET, auth->socket) ==
             EMUNGE_SUCCESS))
        return context;
    munge_ctx_destroy(context);
    return NULL;
}

static int prove_by_munge(const struct bats_auth *auth, const uint8_t *text,
                          size_t n_text, const uint8_t *half, char **proof,
                          size_t *n, struct bats_error *err)
{
    munge_ctx_t context = context_of(auth);
    if (context == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    *proof = NULL;
    uint8_t said[TEXT_MAX + BATS_AUTH_HALF] = {0};
    memcpy(said, text, n_text);
    if (half != NULL)
        memcpy(said + n_text, half, BATS_AUTH_HALF);
    munge_err_t code = munge_encode(proof, context, said,
                                    (int)n_text + BATS_AUTH_HALF);
    int rc = 0;
    if (code == EMUNGE_SUCCESS)
        *n = strlen(*proof);
    else
        rc = bats_error_set(err, BATS_ESYS, "MUNGE: %s",
                            munge_ctx_strerror(context) != NULL
                                ? munge_ctx_strerror(context)
                                : munge_strerror(code));
    munge_ctx_destroy(context);
    return rc;
}

static int check_by_munge(const struct bats_auth *auth, const uint8_t *text,
                          size_t n_text, uint8_t *half, const char *proof,
                          struct bats_error *err)
{
    munge_ctx_t context = context_of(auth);
    void *said = NULL;
    int n_said = 0, rc = 0;
    uid_t user = (uid_t)-1;
    gid_t group;
    if (context == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    munge_err_t code =
        munge_decode(proof, context, &said, &n_said, &user, &group);
    if (code != EMUNGE_SUCCESS)
        rc = bats_error_set(err, BATS_EINPUT, "MUNGE: %s",
                            munge_strerror(code));
    else if (user != geteuid())
        rc = bats_error_set(err, BATS_EINPUT,
                            "it runs as another user (%ld, not %ld)",
                            (long)user, (long)geteuid());
    else if ((size_t)n_said != n_text + BATS_AUTH_HALF ||
             memcmp(said, text, n_text) != 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "its credential is for another connection");
    else if (half != NULL)
        memcpy(half, (const uint8_t *)said + n_text, BATS_AUTH_HALF);
    free(said);
    munge_ctx_destroy(context);
    return rc;
}

#else

static int prove_by_munge(const struct bats_auth *auth, const uint8_t *text,
                          size_t n_text, const uint8_t *half, char **proof,
                          size_t *n, struct bats_error *err)
{
    (void)auth, (void)text, (void)n_text, (void)half, (void)proof, (void)n;
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without MUNGE");
}

static int check_by_munge(const struct bats_auth *auth, const uint8_t *text,
                          size_t n_text, uint8_t *half, const char *proof,
                          struct bats_error *err)
{
    (void)auth, (void)text, (void)n_text, (void)half, (void)proof;
    return bats_error_set(err, BATS_EINPUT,
                          "bats-mpi was built without MUNGE");
}

#endif

/* ---- secret ---- */

#ifdef BATS_HAVE_NETTLE

static int code_with(const uint8_t *key, size_t n_key, const uint8_t *text,
                     size_t n_text, uint8_t code[SHA256_DIGEST_SIZE],
                     struct bats_error *err)
{
    struct hmac_sha256_ctx context;
    (void)err;
    hmac_sha256_set_key(&context, n_key, key);
    hmac_sha256_update(&context, n_text, text);
    hmac_sha256_digest(&context, SHA256_DIGEST_SIZE, code);
    return 0;
}

static bool same_code(const void *a, const void *b)
{
    return memeql_sec(a, b, SHA256_DIGEST_SIZE);
}

#else

#define SHA256_DIGEST_SIZE 32

static int code_with(const uint8_t *key, size_t n_key, const uint8_t *text,
                     size_t n_text, uint8_t code[SHA256_DIGEST_SIZE],
                     struct bats_error *err)
{
    (void)key, (void)n_key, (void)text, (void)n_text, (void)code;
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without Nettle");
}

static bool same_code(const void *a, const void *b)
{
    (void)a, (void)b;
    return false;
}

#endif

static int code_of(const struct bats_auth *auth, const uint8_t *text,
                   size_t n_text, uint8_t code[SHA256_DIGEST_SIZE],
                   struct bats_error *err)
{
    return code_with(auth->secret, sizeof auth->secret, text, n_text, code,
                     err);
}

static int prove_by_secret(const struct bats_auth *auth, const uint8_t *text,
                           size_t n_text, char **proof, size_t *n,
                           struct bats_error *err)
{
    *proof = malloc(SHA256_DIGEST_SIZE);
    if (*proof == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc = code_of(auth, text, n_text, (uint8_t *)*proof, err);
    if (rc < 0)
        free(*proof);
    *n = SHA256_DIGEST_SIZE;
    return rc;
}

static int check_by_secret(const struct bats_auth *auth, const uint8_t *text,
                           size_t n_text, const char *proof, size_t n,
                           struct bats_error *err)
{
    uint8_t code[SHA256_DIGEST_SIZE];
    int rc = code_of(auth, text, n_text, code, err);
    if (rc == 0 && (n != sizeof code || !same_code(proof, code)))
        rc = bats_error_set(err, BATS_EINPUT, "it has another secret");
    return rc;
}

/* ---- both ---- */

int bats_auth_prove(const struct bats_auth *auth,
                    const struct bats_auth_text *text, char **proof, size_t *n,
                    struct bats_error *err)
{
    uint8_t bytes[TEXT_MAX];
    size_t n_bytes = write_text(text, bytes);
    return auth->way == BATS_AUTH_MUNGE
               ? prove_by_munge(auth, bytes, n_bytes, text->half, proof,
                            n, err)
               : prove_by_secret(auth, bytes, n_bytes, proof, n, err);
}

int bats_auth_check(const struct bats_auth *auth,
                    const struct bats_auth_text *text, const char *proof,
                    size_t n, struct bats_error *err)
{
    uint8_t bytes[TEXT_MAX];
    size_t n_bytes = write_text(text, bytes);
    return auth->way == BATS_AUTH_MUNGE
               ? check_by_munge(auth, bytes, n_bytes, text->half, proof,
                            err)
               : check_by_secret(auth, bytes, n_bytes, proof, n, err);
}

/* No proof is of a text that begins like this one. */
int bats_auth_key(const struct bats_auth *auth,
                  const struct bats_auth_text *text,
                  const struct bats_auth_terms *terms,
                  const uint8_t halves[2 * BATS_AUTH_HALF],
                  uint8_t key[BATS_SEAL_KEY], struct bats_error *err)
{
    uint64_t said[2] = {htole64(terms->n_ranks),
                        htole64((uint64_t)terms->silence_us)};
    uint8_t bytes[1 + sizeof said + TEXT_MAX] = {'K'};
    memcpy(bytes + 1, said, sizeof said);
    size_t n = 1 + sizeof said;
    n += write_text(text, bytes + n);
    return auth->way == BATS_AUTH_MUNGE
               ? code_with(halves, 2 * BATS_AUTH_HALF, bytes, n, key, err)
               : code_of(auth, bytes, n, key, err);
}

/* Whether this way works here. */
static int try(struct bats_auth *auth, enum bats_auth_way way,
               struct bats_error *err)
{
    const uint8_t nonce[BATS_PROTO_NONCE] = {0};
    struct bats_auth_text text = {true, nonce, nonce, "none", NULL};
    char *proof;
    size_t n;
    auth->way = way;
    int rc = way == BATS_AUTH_SECRET
                 ? bats_auth_random(auth->secret, sizeof auth->secret, err)
                 : 0;
    if (rc == 0)
        rc = bats_auth_prove(auth, &text, &proof, &n, err);
    if (rc == 0)
        free(proof);
    return rc;
}

int bats_auth_choose(struct bats_auth *auth, struct bats_error *err)
{
    const char *socket = getenv("BATS_MUNGE_SOCKET");
    const char *wanted = getenv("BATS_AUTH");
    *auth = (struct bats_auth){0};
    if (socket != NULL && (size_t)snprintf(auth->socket, sizeof auth->socket,
                                           "%s", socket) >=
                              sizeof auth->socket)
        return bats_error_set(err, BATS_EINPUT,
                              "BATS_MUNGE_SOCKET: a name this long cannot be "
                              "a socket");
    if (wanted != NULL && bats_auth_find(wanted) == BATS_AUTH_NONE)
        return bats_error_set(err, BATS_EINPUT,
                              "BATS_AUTH is '%s', not munge or secret",
                              wanted);
    if (wanted != NULL)
        return try(auth, bats_auth_find(wanted), err);
    return try(auth, BATS_AUTH_MUNGE, NULL) == 0
               ? 0
               : try(auth, BATS_AUTH_SECRET, err);
}
