#include "report/assets.h"

/* The assembler reads the file: no generated source, no other tool. */
#define ASSET(name, path)                                                     \
    __asm__(".pushsection .rodata\n"                                          \
            "asset_" #name "_begin:\n"                                        \
            ".incbin \"src/report/page/" path "\"\n"                          \
            "asset_" #name "_end:\n"                                          \
            ".byte 0\n"                                                       \
            ".popsection\n");                                                 \
    extern const char asset_##name##_begin[], asset_##name##_end[];           \
    const struct bats_asset bats_asset_##name = {asset_##name##_begin,        \
                                                 asset_##name##_end}

ASSET(page_css, "page.css");
ASSET(page_js, "page.js");
ASSET(sweep_js, "sweep.js");
ASSET(uplot_css, "uPlot.css");
ASSET(uplot_js, "uPlot.js");
ASSET(uplot_licence, "uPlot-LICENSE");
