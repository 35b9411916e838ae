#include <string.h>

#include "input/bag/state.h"

int bats_builtin_parse(const char *command, bool *is_builtin,
                       bats_time *duration, struct bats_error *err)
{
    static const char sleep_word[] = "@sleep";
    *is_builtin = false;
    if (*command != '@')
        return 0;
    size_t word = strcspn(command, BLANKS);
    if (word != strlen(sleep_word) || strncmp(command, sleep_word, word) != 0)
        return bats_refuse(err,
                           "unknown built-in task '%.*s'; expected '@sleep "
                           "DURATION' or '@once COMMAND'",
                           word < 60 ? (int)word : 60, command);

    const char *argument = command + word + strspn(command + word, BLANKS);
    size_t length = strlen(argument);
    while (length > 0 && strchr(BLANKS, argument[length - 1]))
        length--;
    char text[128];
    if (length >= sizeof text)
        return bats_refuse(err, "@sleep: '%.60s...' is not a duration",
                           argument);
    memcpy(text, argument, length);
    text[length] = '\0';
    int code = bats_duration_parse(text, duration, err);
    *is_builtin = code == 0;
    return bats_error_prefix(err, code, "@sleep: ");
}
