/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows and filters of flows as text (steer_key.h). Pure; management thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "steer/steer_key.h"
#include "wire/addr.h"
#include "wire/udp.h"

#define WORD 128 /* bytes of the longest key=value, NUL included */

static const char *const keys[] = {"vrf", "src", "dst", "proto", "sport", "dport", "qp", "policy", "path"};
enum { K_VRF, K_SRC, K_DST, K_PROTO, K_SPORT, K_DPORT, K_QP, K_POLICY, K_PATH, K_COUNT };
#define FLOW_KEYS K_POLICY /* a flow has those before */

static int key_of(const char *word, unsigned int n, char *err, size_t size)
{
	const char *near;

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(word, keys[i]) == 0)
			return (int)i;
	near = text_nearest(word, keys, n);
	if (near)
		return text_fail(err, size, -EINVAL, "unknown key '%s'; did you mean '%s'?", word, near);
	return text_fail(err, size, -EINVAL, "unknown key '%s'; a flow has vrf, src, dst, proto, sport, dport, qp",
		word);
}

static int number_of(const char *key, const char *value, uint64_t most, uint64_t *out, char *err, size_t size)
{
	if (text_parse_number(value, 1000, out) < 0 || *out > most)
		return text_fail(err, size, -EINVAL, "%s=%s: a number from 0 to %llu is needed", key, value,
			(unsigned long long)most);
	return 0;
}

static int take_address(struct steer_key *k, const char *key, const char *value, struct ipv6_addr *to, char *err,
	size_t size)
{
	struct ip_addr a;

	if (ip_addr_parse(value, &a) < 0)
		return text_fail(err, size, -EINVAL, "%s=%s: not an IP address", key, value);
	if (k->kind & STEER_FAMILY && (k->kind & STEER_FAMILY) != a.family)
		return text_fail(err, size, -EINVAL, "%s=%s: src and dst are of different families", key, value);
	k->kind = (uint8_t)((k->kind & ~STEER_FAMILY) | a.family);
	memset(to, 0, sizeof(*to));
	memcpy(to, a.b, a.family == 4 ? 4 : 16);
	return 0;
}

static int take_proto(struct steer_key *k, const char *value, char *err, size_t size)
{
	uint64_t n;
	int rc;

	if (strcmp(value, "udp") == 0 || strcmp(value, "tcp") == 0) {
		k->proto = value[0] == 'u' ? IP_PROTO_UDP : IP_PROTO_TCP;
		return 0;
	}
	rc = number_of("proto", value, UINT8_MAX, &n, err, size);
	if (rc == 0)
		k->proto = (uint8_t)n;
	return rc;
}

static void set_port(struct steer_key *k, unsigned int at, uint64_t port)
{
	uint8_t *b = (uint8_t *)&k->ports;

	b[at] = (uint8_t)(port >> 8);
	b[at + 1] = (uint8_t)port;
}

/* What was given, a bit per key. */
struct reading {
	struct steer_filter *f;
	uint64_t qp;
	unsigned int given;
};

static int take_name(char *to, const char *key, const char *value, char *err, size_t size)
{
	if (strlen(value) >= STEER_NAME)
		return text_fail(err, size, -EINVAL, "%s=%s: longer than any name", key, value);
	memcpy(to, value, strlen(value) + 1);
	return 0;
}

static int take(struct reading *r, unsigned int key, const char *value, char *err, size_t size)
{
	struct steer_filter *f = r->f;
	uint64_t n = 0;
	int rc = 0;

	switch (key) {
	case K_VRF:
		return take_name(f->vrf, "vrf", value, err, size);
	case K_POLICY:
		return take_name(f->policy, "policy", value, err, size);
	case K_PATH:
		return take_name(f->path, "path", value, err, size);
	case K_SRC:
		return take_address(&f->key, "src", value, &f->key.src, err, size);
	case K_DST:
		return take_address(&f->key, "dst", value, &f->key.dst, err, size);
	case K_PROTO:
		return take_proto(&f->key, value, err, size);
	case K_QP:
		return number_of("qp", value, 0xffffff, &r->qp, err, size);
	default:
		rc = number_of(keys[key], value, UINT16_MAX, &n, err, size);
		set_port(&f->key, key == K_SPORT ? 0 : 2, n);
		return rc;
	}
}

static int read_words(const char *text, unsigned int n_keys, struct reading *r, char *err, size_t size)
{
	char word[WORD], *value;
	size_t n;
	int key, rc;

	for (; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (n >= sizeof(word))
			return text_fail(err, size, -EINVAL, "'%.40s...': too long", text);
		memcpy(word, text, n);
		word[n] = '\0';
		value = strchr(word, '=');
		if (!value)
			return text_fail(err, size, -EINVAL, "'%s': key=value is needed, for example src=10.0.0.1",
				word);
		*value++ = '\0';
		key = key_of(word, n_keys, err, size);
		if (key < 0)
			return key;
		if (r->given >> key & 1)
			return text_fail(err, size, -EINVAL, "%s is given twice", word);
		r->given |= 1u << key;
		rc = take(r, (unsigned int)key, value, err, size);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool has(const struct reading *r, unsigned int key)
{
	return r->given >> key & 1;
}

int steer_key_parse(const char *text, struct steer_key *out, char *vrf, char *err, size_t size)
{
	struct steer_filter f = {0};
	struct reading r = {.f = &f};
	int rc = read_words(text, FLOW_KEYS, &r, err, size);
	bool ports;

	if (rc < 0)
		return rc;
	if (!has(&r, K_SRC) || !has(&r, K_DST))
		return text_fail(err, size, -EINVAL, "%s is missing: a flow has src and dst",
			has(&r, K_SRC) ? "dst" : "src");
	if (has(&r, K_QP)) {
		if (has(&r, K_SPORT) || has(&r, K_DPORT) || has(&r, K_PROTO))
			return text_fail(err, size, -EINVAL, "qp stands for proto, sport and dport: give it alone");
		f.key.ports = (uint32_t)r.qp;
		f.key.proto = IP_PROTO_UDP;
		f.key.kind |= STEER_PAIR;
	} else {
		if (!has(&r, K_PROTO))
			f.key.proto = IP_PROTO_UDP;
		ports = f.key.proto == IP_PROTO_UDP || f.key.proto == IP_PROTO_TCP;
		if (!ports && (has(&r, K_SPORT) || has(&r, K_DPORT)))
			return text_fail(err, size, -EINVAL, "proto %u has no ports", f.key.proto);
		if (ports && !has(&r, K_SPORT))
			return text_fail(err, size, -EINVAL, "sport is missing, or qp instead");
		if (f.key.proto == IP_PROTO_UDP && !has(&r, K_DPORT))
			set_port(&f.key, 2, UDP_PORT_ROCEV2);
		else if (ports && !has(&r, K_DPORT))
			return text_fail(err, size, -EINVAL, "dport is missing");
	}
	*out = f.key;
	memcpy(vrf, f.vrf, STEER_NAME);
	return 0;
}

static const char *address_of(const struct steer_key *k, const struct ipv6_addr *from, char *buf)
{
	struct ip_addr a = {.family = k->kind & STEER_FAMILY};

	memcpy(a.b, from, sizeof(*from));
	return ip_addr_format(&a, buf);
}

const char *steer_key_format(const struct steer_key *k, const char *vrf, char *buf)
{
	char src[IP_ADDR_TEXT], dst[IP_ADDR_TEXT];
	int n = snprintf(buf, STEER_TEXT, "%s%s%ssrc=%s,dst=%s", *vrf ? "vrf=" : "", vrf, *vrf ? "," : "",
		address_of(k, &k->src, src), address_of(k, &k->dst, dst));
	char *to = buf + n;
	size_t room = STEER_TEXT - (size_t)n;

	if (k->kind & STEER_PAIR)
		snprintf(to, room, ",qp=0x%x", k->ports);
	else if (k->proto == IP_PROTO_UDP || k->proto == IP_PROTO_TCP)
		snprintf(to, room, ",proto=%s,sport=%u,dport=%u", k->proto == IP_PROTO_UDP ? "udp" : "tcp",
			steer_sport(k), steer_dport(k));
	else
		snprintf(to, room, ",proto=%u", k->proto);
	return buf;
}

int steer_filter_parse(const char *text, struct steer_filter *out, char *err, size_t size)
{
	struct reading r = {.f = out};
	int rc;

	*out = (struct steer_filter){0};
	rc = read_words(text, K_COUNT, &r, err, size);
	out->has_src = has(&r, K_SRC);
	out->has_dst = has(&r, K_DST);
	out->has_proto = has(&r, K_PROTO);
	out->has_sport = has(&r, K_SPORT);
	out->has_dport = has(&r, K_DPORT);
	out->has_vrf = has(&r, K_VRF);
	out->has_qp = has(&r, K_QP);
	if (rc == 0 && out->has_qp && (out->has_sport || out->has_dport))
		return text_fail(err, size, -EINVAL, "a flow has either qp or ports");
	if (out->has_qp)
		out->key.ports = (uint32_t)r.qp;
	return rc;
}

bool steer_filter_matches(const struct steer_filter *f, const struct steer_key *k, const char *vrf, const char *policy,
	const char *path)
{
	bool pair = k->kind & STEER_PAIR;

	if ((f->has_src || f->has_dst) && (f->key.kind & STEER_FAMILY) != (k->kind & STEER_FAMILY))
		return false;
	if (f->has_src && memcmp(&f->key.src, &k->src, sizeof(k->src)) != 0)
		return false;
	if (f->has_dst && memcmp(&f->key.dst, &k->dst, sizeof(k->dst)) != 0)
		return false;
	if (f->has_proto && f->key.proto != k->proto)
		return false;
	if (f->has_qp && (!pair || f->key.ports != k->ports))
		return false;
	if (f->has_sport && (pair || steer_sport(&f->key) != steer_sport(k)))
		return false;
	if (f->has_dport && (pair || steer_dport(&f->key) != steer_dport(k)))
		return false;
	return (!f->has_vrf || strcmp(f->vrf, vrf) == 0) && (!*f->policy || strcmp(f->policy, policy) == 0) &&
	       (!*f->path || strcmp(f->path, path) == 0);
}
