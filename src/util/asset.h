/*
 * asset: a file that is part of the program. The assembler includes it, so no
 * generated source is needed. Its bytes go from `begin` to `end`, where there is
 * a NUL.
 *
 * Layer: util.
 */
#ifndef BATS_UTIL_ASSET_H
#define BATS_UTIL_ASSET_H

#include <stdio.h>

struct bats_asset {
    const char *begin, *end;
};

/* Defines the static asset `name`: the file at `path`, below src. */
#define BATS_ASSET(name, path)                                                \
    __asm__(".pushsection .rodata\n"                                          \
            "asset_" #name "_begin:\n"                                        \
            ".incbin \"src/" path "\"\n"                                      \
            "asset_" #name "_end:\n"                                          \
            ".byte 0\n"                                                       \
            ".popsection\n");                                                 \
    extern const char asset_##name##_begin[], asset_##name##_end[];           \
    static const struct bats_asset name = {asset_##name##_begin,              \
                                           asset_##name##_end}

static inline void bats_asset_write(FILE *out, const struct bats_asset *asset)
{
    fwrite(asset->begin, 1, (size_t)(asset->end - asset->begin), out);
}

#endif
