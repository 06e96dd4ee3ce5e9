/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the codec: the table of objects, and what each kind of message consists of. Any thread. */
#ifndef RSVP_RSVP_PRIV_H
#define RSVP_RSVP_PRIV_H

#include "base/compiler.h"
#include "rsvp/rsvp_message.h"

/* Where the body of an object is written. `full` stays set after the first byte that did not fit. */
struct rsvp_out {
	uint8_t *at, *end;
	bool full;
};

static inline void rsvp_put(struct rsvp_out *out, const void *data, size_t bytes)
{
	if (out->full || (size_t)(out->end - out->at) < bytes) {
		out->full = true;
		return;
	}
	if (bytes)
		memcpy(out->at, data, bytes);
	out->at += bytes;
}

/* One C-Type of an object. */
struct rsvp_form {
	uint8_t object;	   /* enum rsvp_object */
	uint8_t class_num; /* 0: configured, and the body begins with the enterprise number */
	uint8_t c_type;
	uint16_t least, most; /* length of the object in bytes, its header included */
	/* Body of the object, without header and enterprise number. False: its contents contradict each other. */
	bool (*read)(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
	void (*write)(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i);
};

/* The row for a class and C-Type; *known: the class is known, whatever the C-Type. NULL: there is none. */
const struct rsvp_form *rsvp_form_of(const struct rsvp_numbers *n, const uint8_t *object, size_t bytes, bool *known);

/* Write the i-th object of that sort, with its header. */
void rsvp_object_write(struct rsvp_out *out, const struct rsvp_numbers *n, const struct rsvp_message *m,
	enum rsvp_object object, unsigned int i);

/* Bodies of the objects of credit flow control, for the table. */
bool rsvp_read_credit_amount(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
bool rsvp_read_credit_letter(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
bool rsvp_read_credit(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
void rsvp_write_credit(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i);
bool rsvp_read_cbfc_hop(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
void rsvp_write_cbfc_hop(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i);
bool rsvp_read_cbfc_path(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
void rsvp_write_cbfc_path(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i);
bool rsvp_read_cbfc_offer(struct rsvp_message *m, uint8_t c_type, const uint8_t *body, size_t bytes);
void rsvp_write_cbfc_offer(struct rsvp_out *out, const struct rsvp_message *m, unsigned int i);

/* An object that a kind of message may have, in the order in which it is written. */
struct rsvp_part {
	uint8_t object;
	uint8_t least, most; /* RSVP_MANY: as many as there is room for */
};
#define RSVP_MANY 255

const struct rsvp_part *rsvp_parts_of(unsigned int kind, unsigned int *n);
unsigned int rsvp_room_of(enum rsvp_object object); /* entries of its list in struct rsvp_message */

#endif
