#include "run/door.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef BATS_HAVE_MUNGE
#include <munge.h>
#endif

#include "proto/proto.h"
#include "util/wake.h"

/* seconds a credential is valid; clocks of nodes differ */
#define LIFETIME_S 60
#define PURPOSE "bats-mpi worker"
#define MOST 64 /* most threads at a time */

static const char *const ways[] = {"", "munge", "secret"};

static enum bats_auth_way find_way(const char *name)
{
    return strcmp(name, ways[BATS_AUTH_MUNGE]) == 0    ? BATS_AUTH_MUNGE
           : strcmp(name, ways[BATS_AUTH_SECRET]) == 0 ? BATS_AUTH_SECRET
                                                       : BATS_AUTH_NONE;
}

static bool copy(char *to, size_t size, const char *text)
{
    return (size_t)snprintf(to, size, "%s", text) < size;
}

/* ---- the file ---- */

static int failed(const char *path, struct bats_error *err)
{
    return bats_refuse(err, "%.300s: %s", path, strerror(errno));
}

static bool print(int fd, const struct bats_door *door)
{
    const struct bats_auth *auth = &door->auth;
    bool is_secret = auth->way == BATS_AUTH_SECRET;
    char secret[2 * BATS_TLS_KEY + 1];
    for (size_t i = 0; i < BATS_TLS_KEY; i++)
        sprintf(secret + 2 * i, "%02x", auth->secret[i]);
    errno = EILSEQ; /* json_pack refuses text that is not UTF-8 */
    json_t *file = json_pack("{s:i, s:s, s:i, s:s, s:s*, s:s*}", "bats-mpi",
                             BATS_PROTO_VERSION, "host", door->host, "port",
                             door->port, "auth", ways[auth->way], "socket",
                             auth->socket[0] != '\0' ? auth->socket : NULL,
                             "secret", is_secret ? secret : NULL);
    /* The descriptor stays open, and some network file systems let other hosts
     * see, and complain of, only what was synced or closed. */
    bool written = file != NULL &&
                   json_dumpfd(file, fd, JSON_INDENT(1)) == 0 &&
                   fsync(fd) == 0;
    json_decref(file);
    return written;
}

/* True if a living master holds the file. Some network file systems have no
 * locks: then false. */
static bool is_held(const char *path)
{
    struct flock flock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool held = fd >= 0 && fcntl(fd, F_OFD_GETLK, &flock) == 0 &&
                flock.l_type != F_UNLCK;
    if (fd >= 0)
        close(fd);
    return held;
}

/* Writes `new` and renames it to `path`. */
static int publish(int fd, const char *new, const char *path,
                   const struct bats_door *door, struct bats_error *err)
{
    struct flock flock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (!print(fd, door))
        return failed(path, err);
    fcntl(fd, F_OFD_SETLK, &flock);
    if (is_held(path))
        return bats_refuse(err,
                           "%.300s: another run uses this file for its "
                           "workers",
                           path);
    return rename(new, path) == 0 ? 0 : failed(path, err);
}

int bats_door_write(const char *path, const struct bats_door *door, int *fd,
                    struct bats_error *err)
{
    char new[PATH_MAX];
    if (snprintf(new, sizeof new, "%s.XXXXXX", path) >= (int)sizeof new)
        return bats_refuse(err, "%.300s...: this name is too long", path);
    *fd = mkostemp(new, O_CLOEXEC); /* makes the file with mode 0600 */
    if (*fd < 0)
        return failed(new, err);
    int rc = publish(*fd, new, path, door, err);
    if (rc < 0) {
        unlink(new);
        close(*fd);
        *fd = -1;
    }
    return rc;
}

void bats_door_remove(const char *path, int fd)
{
    struct stat there, ours;
    if (lstat(path, &there) == 0 && fstat(fd, &ours) == 0 &&
        there.st_dev == ours.st_dev && there.st_ino == ours.st_ino)
        unlink(path);
    close(fd);
}

static bool read_secret(const char *digits, uint8_t *secret)
{
    if (strlen(digits) != 2 * BATS_TLS_KEY ||
        strspn(digits, "0123456789abcdef") != 2 * BATS_TLS_KEY)
        return false;
    for (size_t i = 0; i < BATS_TLS_KEY; i++) {
        char byte[3] = {digits[2 * i], digits[2 * i + 1], '\0'};
        secret[i] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return true;
}

/* False: it lacks something, or a value is wrong. */
static bool take(json_t *file, struct bats_door *door)
{
    int version;
    const char *host, *auth, *socket = "", *secret = NULL;
    if (json_unpack(file, "{s:i, s:s, s:i, s:s, s?s, s?s !}", "bats-mpi",
                    &version, "host", &host, "port", &door->port, "auth",
                    &auth, "socket", &socket, "secret", &secret) != 0 ||
        !copy(door->host, sizeof door->host, host) || *host == '\0' ||
        !copy(door->auth.socket, sizeof door->auth.socket, socket))
        return false;
    door->auth.way = find_way(auth);
    return door->port > 0 && door->port < 65536 &&
           door->auth.way != BATS_AUTH_NONE &&
           (door->auth.way == BATS_AUTH_SECRET) == (secret != NULL) &&
           (secret == NULL || read_secret(secret, door->auth.secret));
}

static int parse(int fd, const char *path, struct bats_door *door,
                 struct bats_error *err)
{
    json_error_t why;
    json_t *file = json_loadfd(fd, 0, &why);
    const json_t *version = json_object_get(file, "bats-mpi");
    int rc = 0;
    if (file == NULL)
        rc = bats_refuse(err, "%.300s:%d: this is not a file for workers: %s",
                         path, why.line, why.text);
    else if (json_is_integer(version) &&
             json_integer_value(version) != BATS_PROTO_VERSION)
        rc = bats_refuse(
            err,
            "%.300s: the master speaks version %d of the protocol, this is "
            "version %d: both must be the same bats-mpi",
            path, (int)json_integer_value(version), BATS_PROTO_VERSION);
    else if (!take(file, door))
        rc = bats_refuse(err,
                         "%.300s: this is not a file for workers: a value "
                         "is wrong or missing",
                         path);
    json_decref(file);
    return rc;
}

int bats_door_read(const char *path, struct bats_door *door,
                   struct bats_error *err)
{
    struct stat status;
    *door = (struct bats_door){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return failed(path, err);
    int rc = fstat(fd, &status) != 0 ? failed(path, err) : 0;
    if (rc == 0 && (!S_ISREG(status.st_mode) || status.st_uid != geteuid() ||
                    (status.st_mode & 077) != 0))
        rc = bats_refuse(err,
                         "%.300s: it must be your file, and only you may "
                         "read it (mode 0600)",
                         path);
    if (rc == 0)
        rc = parse(fd, path, door, err);
    close(fd);
    return rc;
}

/* ---- keys ---- */

static int draw(uint8_t key[BATS_TLS_KEY], struct bats_error *err)
{
    if (getrandom(key, BATS_TLS_KEY, 0) == BATS_TLS_KEY)
        return 0;
    return bats_error_set(err, BATS_ESYS, "no random bytes: %s",
                          strerror(errno));
}

/* ---- MUNGE ---- */

#ifdef BATS_HAVE_MUNGE

/* Payload of a credential. */
struct said {
    char purpose[sizeof PURPOSE];
    uint8_t key[BATS_TLS_KEY];
};

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

static int encode(const struct bats_auth *auth, const uint8_t *key,
                  char **credential, struct bats_error *err)
{
    munge_ctx_t context = context_of(auth);
    if (context == NULL)
        return bats_no_memory(err);
    struct said said = {.purpose = PURPOSE};
    memcpy(said.key, key, BATS_TLS_KEY);
    munge_err_t code = munge_encode(credential, context, &said, sizeof said);
    int rc = 0;
    if (code != EMUNGE_SUCCESS)
        rc = bats_error_set(err, BATS_ESYS, "MUNGE: %s",
                            munge_ctx_strerror(context) != NULL
                                ? munge_ctx_strerror(context)
                                : munge_strerror(code));
    munge_ctx_destroy(context);
    return rc;
}

static int decode(const struct bats_auth *auth, const char *credential,
                  uint8_t *key, struct bats_error *err)
{
    munge_ctx_t context = context_of(auth);
    struct said *said = NULL;
    int n = 0, rc = 0;
    uid_t user = (uid_t)-1;
    gid_t group;
    if (context == NULL)
        return bats_no_memory(err);
    munge_err_t code =
        munge_decode(credential, context, (void **)&said, &n, &user, &group);
    if (code != EMUNGE_SUCCESS)
        rc = bats_refuse(err, "MUNGE: %s", munge_strerror(code));
    else if (user != geteuid())
        rc = bats_refuse(err, "it runs as another user (%ld, not %ld)",
                         (long)user, (long)geteuid());
    else if (n != sizeof *said ||
             memcmp(said->purpose, PURPOSE, sizeof PURPOSE) != 0)
        rc = bats_refuse(err, "its credential is for something else");
    else
        memcpy(key, said->key, BATS_TLS_KEY);
    free(said);
    munge_ctx_destroy(context);
    return rc;
}

#else

static int encode(const struct bats_auth *auth, const uint8_t *key,
                  char **credential, struct bats_error *err)
{
    (void)auth, (void)key, (void)credential;
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without MUNGE");
}

static int decode(const struct bats_auth *auth, const char *credential,
                  uint8_t *key, struct bats_error *err)
{
    (void)credential;
    return encode(auth, key, NULL, err);
}

#endif

/* ---- both ---- */

int bats_auth_offer(const struct bats_auth *auth, uint8_t key[BATS_TLS_KEY],
                    char **credential, struct bats_error *err)
{
    if (auth->way == BATS_AUTH_MUNGE) {
        int rc = draw(key, err);
        return rc < 0 ? rc : encode(auth, key, credential, err);
    }
    memcpy(key, auth->secret, BATS_TLS_KEY);
    *credential = strdup("");
    return *credential != NULL ? 0 : bats_no_memory(err);
}

int bats_auth_accept(const struct bats_auth *auth, const char *credential,
                     uint8_t key[BATS_TLS_KEY], struct bats_error *err)
{
    if (auth->way == BATS_AUTH_MUNGE)
        return decode(auth, credential, key, err);
    memcpy(key, auth->secret, BATS_TLS_KEY);
    return 0;
}

/* Sets up this way of authentication, if it works here. */
static int try(struct bats_auth *auth, enum bats_auth_way way,
               struct bats_error *err)
{
    uint8_t key[BATS_TLS_KEY];
    char *credential;
    auth->way = way;
    if (way == BATS_AUTH_SECRET)
        return draw(auth->secret, err);
    int rc = bats_auth_offer(auth, key, &credential, err);
    if (rc == 0)
        free(credential);
    return rc;
}

int bats_auth_choose(struct bats_auth *auth, struct bats_error *err)
{
    const char *socket = getenv("BATS_MUNGE_SOCKET");
    const char *wanted = getenv("BATS_AUTH");
    enum bats_auth_way way = wanted != NULL ? find_way(wanted) : 0;
    *auth = (struct bats_auth){0};
#ifndef BATS_HAVE_GNUTLS
    return bats_error_set(err, BATS_ESYS, "bats-mpi was built without GnuTLS");
#endif
    if (socket != NULL && !copy(auth->socket, sizeof auth->socket, socket))
        return bats_refuse(err,
                           "BATS_MUNGE_SOCKET: the path of a socket cannot "
                           "be this long");
    if (wanted == NULL)
        return try(auth, BATS_AUTH_MUNGE, NULL) == 0
                   ? 0
                   : try(auth, BATS_AUTH_SECRET, err);
    return way != BATS_AUTH_NONE
               ? try(auth, way, err)
               : bats_refuse(err, "BATS_AUTH is '%s', not munge or secret",
                             wanted);
}

/* ---- without waiting ---- */

struct errand {
    struct bats_errand base;
    struct bats_auth auth;
    char *credential;
    pthread_t sender;
    atomic_bool is_back;
    atomic_flag is_left; /* set by the first of two threads to let go; the
                          * second one frees */
};

static atomic_int n_away;

static void run(struct errand *e)
{
    e->base.rc =
        bats_auth_accept(&e->auth, e->credential, e->base.key, &e->base.err);
    atomic_store(&e->is_back, true);
}

static void leave(struct errand *e)
{
    if (!atomic_flag_test_and_set(&e->is_left))
        return;
    free(e->credential);
    free(e);
}

static void *run_away(void *errand)
{
    struct errand *e = errand;
    pthread_t sender = e->sender;
    run(e);
    leave(e);
    atomic_fetch_sub(&n_away, 1);
    pthread_kill(sender, BATS_WAKE_SIGNAL);
    return NULL;
}

static bool start_thread(struct errand *e)
{
    pthread_t thread;
    atomic_fetch_add(&n_away, 1);
    bool started = bats_wake_thread(&thread, run_away, e) == 0;
    if (started)
        pthread_detach(thread);
    else
        atomic_fetch_sub(&n_away, 1);
    return started;
}

int bats_errand_send(const struct bats_auth *auth, const char *credential,
                     struct bats_errand **errand, struct bats_error *err)
{
    struct errand *e = malloc(sizeof *e);
    char *copy = strdup(credential);
    if (e == NULL || copy == NULL) {
        free(e);
        free(copy);
        return bats_no_memory(err);
    }
    *e = (struct errand){.auth = *auth,
                         .credential = copy,
                         .sender = pthread_self(),
                         .is_left = ATOMIC_FLAG_INIT};
    *errand = &e->base;
    if (auth->way == BATS_AUTH_MUNGE && start_thread(e))
        return 0;
    run(e);
    leave(e);
    return 0;
}

bool bats_errand_is_back(const struct bats_errand *errand)
{
    return atomic_load(&((struct errand *)(uintptr_t)errand)->is_back);
}

void bats_errand_forget(struct bats_errand *errand)
{
    if (errand != NULL)
        leave((struct errand *)errand);
}

bool bats_errand_is_enough(void)
{
    return atomic_load(&n_away) >= MOST;
}
