/*
 * name: of the site, by what its batch system calls itself.
 * Layer: site. Used by cli, for the history: clusters of the same name at two
 * sites are two clusters.
 */
#ifndef BATS_SITE_NAME_H
#define BATS_SITE_NAME_H

/* "": it is not known. */
const char *bats_site_name(void);

#endif
