#include "report/assets.h"

/* The assembler includes the file; no generated source is needed. */
#define ASSET(name, path)                                                     \
    __asm__(".pushsection .rodata\n"                                          \
            "asset_" #name "_begin:\n"                                        \
            ".incbin \"src/" path "\"\n"                                      \
            "asset_" #name "_end:\n"                                          \
            ".byte 0\n"                                                       \
            ".popsection\n");                                                 \
    extern const char asset_##name##_begin[], asset_##name##_end[];           \
    const struct bats_asset bats_asset_##name = {asset_##name##_begin,        \
                                                 asset_##name##_end}

ASSET(page_css, "report/page/page.css");
ASSET(page_js, "report/page/page.js");
ASSET(charts_js, "report/page/charts.js");
ASSET(run_js, "report/page/run.js");
ASSET(sweep_js, "report/page/sweep.js");
ASSET(graph_js, "report/page/graph.js");
ASSET(uplot_css, "report/page/uPlot.css");
ASSET(uplot_js, "report/page/uPlot.js");
ASSET(uplot_licence, "report/page/uPlot-LICENSE");
ASSET(man, "doc/man.roff");
