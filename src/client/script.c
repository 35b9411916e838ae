/* script: scripts as commands. */
#include <stdio.h>
#include <string.h>

#include "client/client.h"

char *bats_client_script(const char *path)
{
    struct bats_text text = {0};
    char piece[4096];
    size_t n;
    FILE *file = fopen(path, "re");
    while (file != NULL && (n = fread(piece, 1, sizeof piece, file)) > 0) {
        bats_text_put(&text, piece, n);
        if (text.bytes[0] != '#' || (text.n > 1 && text.bytes[1] != '!'))
            break;
    }
    bool is_script = file != NULL && feof(file) && text.n > 2 && !text.failed;
    if (file != NULL)
        fclose(file);
    if (!is_script)
        bats_text_release(&text);
    return text.bytes;
}

/* Snakemake writes its job scripts so: the second line has the needs. */
char *bats_client_properties(char *script)
{
    static const char head[] = "# properties = ";
    char *line = strchr(script, '\n');
    return line != NULL && strncmp(line + 1, head, sizeof head - 1) == 0
               ? line + sizeof head
               : NULL;
}

char *bats_client_command(char *script, int n, char **words, bool is_snakemake)
{
    struct bats_text text = {0};
    char *line = script, *slash = strrchr(words[0], '/');
    if (is_snakemake && slash != NULL) {
        bats_text_add(&text, "mkdir -p ");
        *slash = '\0';
        bats_text_encode(&text, BATS_ENCODE_QUOTED, words[0]);
        *slash = '/';
        bats_text_add(&text, "\n");
    }
    bats_text_format(&text, "exec %.*s -c ", (int)strcspn(script, "\n") - 2,
                     script + 2);
    while (*line == '#' || *line == '\n')
        line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
    bats_text_encode(&text, BATS_ENCODE_QUOTED, line);
    for (int i = 0; i < n; i++) {
        bats_text_add(&text, " ");
        bats_text_encode(&text, BATS_ENCODE_QUOTED, words[i]);
    }
    return text.bytes;
}
