/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether a flow may be placed on a path. Pure. */
#include "config/placing.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "wire/udp.h"

int cfg_find_path(const struct cfg_policy *policy, const char *name)
{
	for (uint32_t i = 0; i < policy->paths.n; i++)
		if (strcmp(policy->paths.items[i].name, name) == 0)
			return (int)i;
	return -1;
}

int cfg_may_place(const struct config *c, const struct steer_key *key, const char *vrf, const char *policy,
	const char *path, char *err, size_t size)
{
	const char *near = NULL;
	int i = cfg_find_named(c, "policies", policy, &near), k;
	const struct cfg_policy *p = i < 0 ? NULL : &c->policies.items[i];

	if (!p)
		return text_fail(err, size, -ENOENT,
			near ? "there is no policy '%s'; did you mean '%s'?" : "there is no policy '%s'", policy, near);
	k = cfg_find_path(p, path);
	if (k < 0)
		return text_fail(err, size, -ENOENT, "policy '%s' has no path '%s'; see: show paths", policy, path);
	if (p->paths.items[k].backup)
		return text_fail(err, size, -EINVAL,
			"path '%s' of policy '%s' is a backup: it carries traffic only while no other path is alive",
			path, policy);
	if (!p->flows)
		return text_fail(err, size, -EINVAL, "policy '%s' has no flow table; set its flows", policy);
	if (*vrf && cfg_find_vrf(c, vrf) < 0)
		return text_fail(err, size, -ENOENT, "there is no VRF '%s'", vrf);
	if (p->flow_key == FLOW_KEY_TUPLE && key->kind & STEER_PAIR)
		return text_fail(err, size, -EINVAL,
			"policy '%s' finds flows by their ports: give sport, or set its flow-key to queue-pair",
			policy);
	if (p->flow_key == FLOW_KEY_QUEUE_PAIR && !(key->kind & STEER_PAIR) && key->proto == IP_PROTO_UDP &&
		steer_dport(key) == UDP_PORT_ROCEV2)
		return text_fail(err, size, -EINVAL,
			"policy '%s' finds flows of RoCEv2 by their queue pair: give qp, or set its flow-key to tuple",
			policy);
	return 0;
}
