/*
 * replay: a fuzz target as a test in TAP. Feeds it every file of
 * tests/fuzz/seeds/NAME below TOP (the project, or "."), one test for each,
 * or the files that are named as arguments. Needs no libFuzzer.
 */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz.h"

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* False if the file cannot be read. */
static int feed(const char *path)
{
    struct fuzz_bytes bytes = fuzz_read(path);
    if (bytes.at == NULL)
        return 0;
    LLVMFuzzerTestOneInput(bytes.at, bytes.n);
    free(bytes.at);
    return 1;
}

static int number;
static char path[4096]; /* what the target is being fed */

/* If the target crashes, the last line names its input. */
static void say_path(int sig)
{
    struct iovec words[] = {{"# ", 2}, {path, strlen(path)}, {"\n", 1}};
    ssize_t ignored = writev(STDOUT_FILENO, words, 3);
    (void)ignored;
    _exit(128 + sig);
}

static void test(const char *directory, const char *name)
{
    snprintf(path, sizeof path, "%s%s", directory, name);
    printf("%s %d - %s\n", feed(path) ? "ok" : "not ok", ++number, name);
    fflush(stdout);
}

static int all_seeds(const char *target)
{
    const char *top = getenv("TOP");
    char directory[2048];
    struct dirent **list;
    snprintf(directory, sizeof directory, "%s/tests/fuzz/seeds/%s/",
             top != NULL ? top : ".", target);
    int n = scandir(directory, &list, is_visible, alphasort);
    if (n <= 0) {
        printf("Bail out! there are no seeds in %s\n", directory);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        test(directory, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = strrchr(argv[0], '_'); /* fuzz_NAME */
    signal(SIGABRT, say_path);
    signal(SIGSEGV, say_path);
    for (int i = 1; i < argc; i++)
        test("", argv[i]);
    if (argc == 1 && (name == NULL || all_seeds(name + 1) != 0))
        return 1;
    printf("1..%d\n", number);
    return 0;
}
