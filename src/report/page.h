/*
 * page: a single-file page for a browser: figures, and the script that shows
 * them as tables and charts.
 *
 * Layer: report. Used for runs, plans, frontiers and simulations. The page has
 * a strict Content-Security-Policy: nothing is loaded, and only scripts and
 * styles with the page's random nonce run. Figures are JSON without '<', so
 * that no text of a command or file name is markup. Charts are drawn by uPlot
 * (MIT), included with its notice: page/uPlot.js and uPlot.css are unchanged
 * from uPlot 1.6.32 on npm, in readable form.
 */
#ifndef BATS_PAGE_H
#define BATS_PAGE_H

#include <jansson.h>
#include <stdio.h>

#include "bats/error.h"

/* Writes the page of `data` (decref'd here; NULL: out of memory): an object
 * with "kind" ("run", "plan", "strategies" or "simulation": page/page.js) and
 * "title". more: writes further members, each after a comma; NULL: none. The
 * caller checks the file for write errors. BATS_ENOMEM, BATS_ESYS; errors of
 * `more`. */
int bats_page_write(FILE *out, json_t *data,
                    int (*more)(void *context, FILE *out,
                                struct bats_error *err),
                    void *context, struct bats_error *err);

#endif
