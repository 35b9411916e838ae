/*
 * assets: the files in page/, and a part of the man page, embedded in the
 * program.
 *
 * Layer: report. Used by page and by the help. uPlot.js and uPlot.css are
 * unchanged from uPlot 1.6.32 on npm, in readable form; uPlot-LICENSE is its
 * licence.
 */
#ifndef BATS_ASSETS_H
#define BATS_ASSETS_H

#include <stdio.h>

struct bats_asset {
    const char *begin, *end;
};

extern const struct bats_asset bats_asset_page_css, bats_asset_page_js,
    bats_asset_charts_js, bats_asset_run_js, bats_asset_sweep_js,
    bats_asset_graph_js, bats_asset_uplot_css, bats_asset_uplot_js,
    bats_asset_uplot_licence, bats_asset_man;

static inline void bats_asset_write(FILE *out, const struct bats_asset *asset)
{
    fwrite(asset->begin, 1, (size_t)(asset->end - asset->begin), out);
}

#endif
