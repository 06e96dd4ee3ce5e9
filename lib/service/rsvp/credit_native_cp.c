/* SPDX-License-Identifier: BSD-3-Clause */
/* What rx lcores know of sessions with servers (credit_native.h). Control lcore. */
#include "service/rsvp/credit_native.h"
#include "service/rsvp/service_credit.h"
#include "snapshot/snapshot.h"

/* Places of the table: those of paths by which servers send, then those of lines that lead to servers. */
static uint32_t place_of_path(uint32_t slot)
{
	return slot + 1;
}

static uint32_t place_of_line(const struct credit_control *k, uint32_t line)
{
	return k->paths + line;
}

static void put(struct credit_data *d, uint32_t place, const struct credit_entry *e, uint16_t *of_port)
{
	if (!d->native.entry[place].place)
		__atomic_store_n(of_port, *of_port + 1, __ATOMIC_RELAXED);
	credit_table_set(&d->native, place, e);
}

static void take(struct credit_data *d, uint32_t place, uint16_t *of_port)
{
	if (!d->native.entry[place].place)
		return;
	__atomic_store_n(of_port, *of_port - 1, __ATOMIC_RELAXED);
	credit_table_remove(&d->native, place);
}

static uint16_t *port_of(uint16_t *of_ports, uint32_t zone)
{
	return &of_ports[snap_interface_of(zone - 1u)];
}

void credit_native_from(struct credit_control *k, uint32_t slot, const struct rsvp_path_view *v, uint16_t line)
{
	struct credit_data *d = k->data;
	struct credit_entry e = native_from(d, v->zone_up, &v->sender.src, &v->session.dst, v->sender.labelled,
		v->sender.port);

	e.grant = (uint16_t)v->number;
	e.line = line;
	if (v->number)
		put(d, place_of_path(slot), &e, port_of(d->from_servers, v->zone_up));
	else
		credit_native_from_ends(k, slot, v->zone_up);
}

void credit_native_from_ends(struct credit_control *k, uint32_t slot, uint16_t zone)
{
	if (zone)
		take(k->data, place_of_path(slot), port_of(k->data->from_servers, zone));
}

void credit_native_to(struct credit_control *k, uint32_t line)
{
	const struct credit_use *u = &k->use[line];
	struct credit_entry e = native_to(k->data, u->zone, &u->to, u->path_class);

	e.line = (uint16_t)line;
	put(k->data, place_of_line(k, line), &e, port_of(k->data->to_servers, u->zone));
}

void credit_native_to_ends(struct credit_control *k, uint32_t line)
{
	if (k->use[line].zone)
		take(k->data, place_of_line(k, line), port_of(k->data->to_servers, k->use[line].zone));
}
