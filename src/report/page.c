#include "report/page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "util/json.h"

/* ---- files that are part of the program ---- */

struct asset {
    const char *begin, *end;
};

/* The assembler includes the file; no generated source is needed. */
#define ASSET(name, path)                                                     \
    __asm__(".pushsection .rodata\n"                                          \
            "asset_" #name "_begin:\n"                                        \
            ".incbin \"src/" path "\"\n"                                      \
            "asset_" #name "_end:\n"                                          \
            ".byte 0\n"                                                       \
            ".popsection\n");                                                 \
    extern const char asset_##name##_begin[], asset_##name##_end[];           \
    static const struct asset name = {asset_##name##_begin, asset_##name##_end}

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

static void put(FILE *out, const struct asset *asset)
{
    fwrite(asset->begin, 1, (size_t)(asset->end - asset->begin), out);
}

void bats_page_write_man(FILE *out)
{
    put(out, &man);
}

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
    put(out, &uplot_css);
    put(out, &page_css);
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
    put(out, &uplot_licence);
    fputs("*/\n", out);
    put(out, &uplot_js);
    fprintf(out, "</script>\n<script nonce=\"%s\">\n", nonce);
    put(out, &charts_js);
    put(out, &run_js);
    put(out, &sweep_js);
    put(out, &graph_js);
    put(out, &page_js);
    fputs("</script>\n</body>\n</html>\n", out);
    return rc;
}
