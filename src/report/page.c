#include "report/page.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "util/asset.h"
#include "util/json.h"

/* ---- files that are part of the program ---- */

BATS_ASSET(page_css, "report/page/page.css");
BATS_ASSET(page_js, "report/page/page.js");
BATS_ASSET(charts_js, "report/page/charts.js");
BATS_ASSET(run_js, "report/page/run.js");
BATS_ASSET(sweep_js, "report/page/sweep.js");
BATS_ASSET(graph_js, "report/page/graph.js");
BATS_ASSET(uplot_css, "report/page/uPlot.css");
BATS_ASSET(uplot_js, "report/page/uPlot.js");
BATS_ASSET(uplot_licence, "report/page/uPlot-LICENSE");

/* ---- the page ---- */

static int make_nonce(char nonce[33], struct bats_error *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return bats_error_set(err, BATS_ESYS, "no random number: %m");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

/* Leaves out the brace at the end, so that members can follow. */
static int write_data(FILE *out, json_t *data, struct bats_error *err)
{
    char *text = data == NULL
                     ? NULL
                     : json_dumps(data, BATS_JSON_SAFE | JSON_COMPACT |
                                            JSON_REAL_PRECISION(7));
    json_decref(data);
    if (text == NULL)
        return bats_no_memory(err);
    for (const char *at = text; at[1] != '\0'; at++)
        if (*at == '<')
            fputs("\\u003c", out);
        else
            putc(*at, out);
    free(text);
    return 0;
}

int bats_page_write(FILE *out, json_t *data,
                    int (*more)(void *context, FILE *out,
                                struct bats_error *err),
                    void *context, struct bats_error *err)
{
    char nonce[33] = "";
    int rc = make_nonce(nonce, err);
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n"
            "<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\""
            "default-src 'none'; script-src 'nonce-%s'; "
            "style-src 'nonce-%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<title>bats-mpi</title>\n<style nonce=\"%s\">\n",
            nonce, nonce, nonce);
    bats_asset_write(out, &uplot_css);
    bats_asset_write(out, &page_css);
    fputs(
        "</style>\n</head>\n<body>\n<main><noscript>This page is drawn by its "
        "scripts. bats-mpi status, tasks and log say the same on a terminal."
        "</noscript></main>\n"
        "<footer>Charts: uPlot, &copy; Leon Sorokin, MIT License.</footer>\n"
        "<script type=\"application/json\" id=\"data\">",
        out);
    json_object_set_new(data, "written_s", json_integer(time(NULL)));
    if (rc == 0)
        rc = write_data(out, data, err);
    else
        json_decref(data);
    if (rc == 0 && more != NULL)
        rc = more(context, out, err);
    fprintf(out, "}</script>\n<script nonce=\"%s\">\n/*\n", nonce);
    bats_asset_write(out, &uplot_licence);
    fputs("*/\n", out);
    bats_asset_write(out, &uplot_js);
    fprintf(out, "</script>\n<script nonce=\"%s\">\n", nonce);
    bats_asset_write(out, &charts_js);
    bats_asset_write(out, &run_js);
    bats_asset_write(out, &sweep_js);
    bats_asset_write(out, &graph_js);
    bats_asset_write(out, &page_js);
    fputs("</script>\n</body>\n</html>\n", out);
    return rc;
}
