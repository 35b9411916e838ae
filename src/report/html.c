#include "report/html.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "report/assets.h"
#include "report/words.h"
#include "util/encode.h"
#include "util/json.h"

/* ---- text ---- */

static void escape(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            putc(*text, out);
        }
}

/* Encodes control characters and non-UTF-8 bytes as on a terminal. */
void bats_html_text(struct bats_html *h, const char *text)
{
    size_t size = bats_encode(BATS_ENCODE_TERMINAL, NULL, 0, text) + 1;
    char *valid = malloc(size);

    if (valid == NULL)
        return;
    bats_encode(BATS_ENCODE_TERMINAL, valid, size, text);
    escape(h->out, valid);
    free(valid);
}

static void put(struct bats_html *h, const char *format, va_list args)
{
    char *text;

    if (vasprintf(&text, format, args) < 0)
        return;
    bats_html_text(h, text);
    free(text);
}

void bats_html_textf(struct bats_html *h, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(h, format, args);
    va_end(args);
}

static void paragraph(struct bats_html *h, const char *kind,
                      const char *format, va_list args)
{
    fprintf(h->out, "<p class=\"%s\">", kind);
    put(h, format, args);
    fputs("</p>\n", h->out);
}

void bats_html_note(struct bats_html *h, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    paragraph(h, "note", format, args);
    va_end(args);
}

void bats_html_lead(struct bats_html *h, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    paragraph(h, "lead", format, args);
    va_end(args);
}

/* ---- parts ---- */

void bats_html_section(struct bats_html *h, const char *heading,
                       const char *id)
{
    fprintf(h->out, "<h2>%s</h2>\n", heading);
    if (id != NULL)
        fprintf(h->out, "<div class=\"chart js\" id=\"%s\"></div>\n", id);
}

void bats_html_facts(struct bats_html *h)
{
    fputs("<dl class=\"facts\">\n", h->out);
}

void bats_html_fact(struct bats_html *h, const char *name, const char *value,
                    const char *more)
{
    fputs("<div><dt>", h->out);
    bats_html_text(h, name);
    fputs("</dt><dd>", h->out);
    bats_html_text(h, value);
    if (more != NULL && more[0] != '\0') {
        fputs(" <small>", h->out);
        bats_html_text(h, more);
        fputs("</small>", h->out);
    }
    fputs("</dd></div>\n", h->out);
}

void bats_html_facts_end(struct bats_html *h)
{
    fputs("</dl>\n", h->out);
}

void bats_html_table(struct bats_html *h, const char *caption,
                     const char *heads)
{
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"",
          h->out);
    bats_html_text(h, caption);
    fputs("\"><table><caption>", h->out);
    bats_html_text(h, caption);
    fputs("</caption>\n<thead><tr>", h->out);
    while (*heads != '\0') {
        int n = (int)strcspn(heads, "|");
        bool left = *heads == '<';
        fprintf(h->out, "<th scope=\"col\"%s>", left ? " class=\"text\"" : "");
        bats_html_textf(h, "%.*s", n - left, heads + left);
        fputs("</th>", h->out);
        heads += n + (heads[n] == '|');
    }
    fputs("</tr></thead>\n<tbody>", h->out);
}

void bats_html_row(struct bats_html *h)
{
    fputs("\n<tr>", h->out);
}

void bats_html_cell(struct bats_html *h, const char *format, ...)
{
    va_list args;

    fputs("<td>", h->out);
    va_start(args, format);
    put(h, format, args);
    va_end(args);
}

void bats_html_words(struct bats_html *h, const char *text)
{
    fputs("<td class=\"text\">", h->out);
    bats_html_text(h, text);
}

void bats_html_code(struct bats_html *h, const char *text)
{
    fputs("<td class=\"code\">", h->out);
    bats_html_text(h, text);
}

void bats_html_table_end(struct bats_html *h)
{
    fputs("\n</tbody></table></div>\n", h->out);
}

/* ---- the frame ---- */

static int make_nonce(char nonce[33], struct bats_error *err)
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return bats_error_set(err, BATS_ESYS, "no random number: %s",
                              strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

int bats_html_begin(struct bats_html *h, FILE *out, const char *what,
                    const char *name, struct bats_error *err)
{
    h->out = out;
    int rc = make_nonce(h->nonce, err);

    if (rc < 0)
        return rc;
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n"
            "<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\""
            "default-src 'none'; script-src 'nonce-%s'; "
            "style-src 'nonce-%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
            h->nonce, h->nonce);
    bats_html_textf(h, "%s%s - bats-mpi", what, name);
    fprintf(out, "</title>\n<style nonce=\"%s\">\n", h->nonce);
    bats_asset_write(out, &bats_asset_uplot_css);
    putc('\n', out);
    bats_asset_write(out, &bats_asset_page_css);
    fputs("</style>\n</head>\n<body>\n<main>\n<h1>", out);
    bats_html_textf(h, "%s%s", what, name);
    fputs("</h1>\n", out);
    return 0;
}

/* Escapes '<', so that the data cannot end the script element. */
static int put_data(const char *text, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            putc(text[i], out);
    return 0;
}

static int write_data(struct bats_html *h, json_t *data,
                      struct bats_error *err)
{
    fputs("<script type=\"application/json\" id=\"data\">", h->out);
    int bad = json_dump_callback(data, put_data, h->out,
                                 BATS_JSON_SAFE | JSON_COMPACT |
                                     JSON_REAL_PRECISION(7));
    fputs("</script>\n", h->out);
    json_decref(data);
    return bad ? bats_no_memory(err) : 0;
}

int bats_html_end(struct bats_html *h, json_t *data, struct bats_error *err)
{
    fprintf(h->out,
            "</main>\n<footer>Written by bats-mpi at %s. Charts: uPlot, "
            "&copy; Leon Sorokin, MIT License.</footer>\n",
            bats_words_clock((int64_t)time(NULL) * 1000000).s);
    int rc = write_data(h, data, err);
    if (rc < 0)
        return rc;
    fprintf(h->out, "<script nonce=\"%s\">\n/*\n", h->nonce);
    bats_asset_write(h->out, &bats_asset_uplot_licence);
    fputs("*/\n", h->out);
    bats_asset_write(h->out, &bats_asset_uplot_js);
    fprintf(h->out, "</script>\n<script nonce=\"%s\">\n", h->nonce);
    bats_asset_write(h->out, &bats_asset_sweep_js);
    bats_asset_write(h->out, &bats_asset_page_js);
    fputs("</script>\n</body>\n</html>\n", h->out);
    return 0;
}
