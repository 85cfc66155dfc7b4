/* SPDX-License-Identifier: Apache-2.0 */
/* The grammars of names, keys and values (validation.json `grammar`). */
#ifndef HOLDFS_NAMES_H
#define HOLDFS_NAMES_H

#include "store/base/str.h"
#include "store/kind/kind.h"

enum name_grammar {
	GRAMMAR_DNS1123_LABEL,
	GRAMMAR_DNS1123_SUBDOMAIN,
	GRAMMAR_DNS1035_LABEL,
	GRAMMAR_PATH_SEGMENT,
	GRAMMAR_LABEL_KEY,
	GRAMMAR_LABEL_VALUE,
	GRAMMAR_ANNOTATION_KEY,
	GRAMMAR_CONFIG_KEY,
	GRAMMAR_ENV_VAR,
	GRAMMAR_PORT_NAME,
	GRAMMAR_COUNT,
};

enum { NAME_FAULTS_MAX = 5 };

/* What is wrong with a text, in kube-apiserver's words and order; it makes one cause of each. */
struct name_faults {
	const char *text[NAME_FAULTS_MAX]; /* static */
	unsigned n;
};

/* All faults; n is 0 for a good text. */
void name_check(enum name_grammar grammar, struct str s, struct name_faults *ret);

/* Each answers NULL for a good text, else the detail text that kube-apiserver gives for it
 * (apimachinery validation messages), static. Where it gives several, the first. */
const char *name_dns1123_label(struct str s);
const char *name_dns1123_subdomain(struct str s);
const char *name_dns1035_label(struct str s);
const char *name_path_segment(struct str s);
const char *name_label_key(struct str s);
const char *name_label_value(struct str s);
const char *name_annotation_key(struct str s);
const char *name_config_key(struct str s);
const char *name_env_var(struct str s);
const char *name_port_name(struct str s);

/* The grammar of object names of a kind. prefix: s is a generateName (may end in '-'). What depends on the rest
 * of the object (names of CustomResourceDefinitions and APIServices) is left to validation. */
const char *name_of_kind(const struct kind *k, struct str s, bool prefix);

#endif
