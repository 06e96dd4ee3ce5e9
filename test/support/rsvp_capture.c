/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/rsvp_capture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/outline.h"
#include "wire/checksum.h"
#include "wire/eth.h"

static struct wire_outlines seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static FILE *begin(void)
{
	static const uint8_t head[24] = {0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [18] = 1, [20] = 1};
	const char *folder = getenv("RSVP_CAPTURE");
	char path[512];
	FILE *f;

	if (!folder)
		return NULL;
	snprintf(path, sizeof(path), "%s/unit-%d.pcap", folder, (int)getpid());
	f = fopen(path, "wbe");
	if (!f || fwrite(head, sizeof(head), 1, f) != 1) {
		perror(path);
		abort();
	}
	return f;
}

void rsvp_capture_frame(const void *frame, size_t bytes)
{
	static FILE *file;
	static int asked;
	uint32_t record[4] = {0, 0, (uint32_t)bytes, (uint32_t)bytes};

	pthread_mutex_lock(&lock);
	if (!asked++)
		file = begin();
	/* the program ends in many ways, so nothing stays in a buffer */
	if (file && wire_outline_is_new(&seen, frame, bytes) &&
		(fwrite(record, sizeof(record), 1, file) != 1 || fwrite(frame, bytes, 1, file) != 1 || fflush(file)))
		abort();
	pthread_mutex_unlock(&lock);
}

void rsvp_capture_message(const struct ip_addr *from, const struct ip_addr *to, const void *message, size_t bytes)
{
	uint8_t frame[2048] = {2, [5] = 1, 2, [11] = 2, from->family == 6 ? 0x86 : 8, from->family == 6 ? 0xdd : 0};
	uint8_t *at = frame + sizeof(struct eth_hdr);

	if (bytes > sizeof(frame) - sizeof(struct eth_hdr) - sizeof(struct ipv6_hdr))
		abort();
	if (from->family == 6) {
		struct ipv6_hdr ip = {.vtc_flow = ipv6_vtc_flow(0xc0, 0),
			.payload_length = be16((uint16_t)bytes),
			.next_header = IP_PROTO_RSVP,
			.hop_limit = 255,
			.src = from->v6,
			.dst = to->v6};

		memcpy(at, &ip, sizeof(ip));
		at += sizeof(ip);
	} else {
		struct ipv4_hdr ip = {.version_ihl = 0x45,
			.tos = 0xc0,
			.total_length = be16((uint16_t)(sizeof(ip) + bytes)),
			.ttl = 255,
			.protocol = IP_PROTO_RSVP};

		memcpy(&ip.src, from->b, sizeof(ip.src));
		memcpy(&ip.dst, to->b, sizeof(ip.dst));
		ip.checksum = checksum_ipv4(&ip);
		memcpy(at, &ip, sizeof(ip));
		at += sizeof(ip);
	}
	memcpy(at, message, bytes);
	rsvp_capture_frame(frame, (size_t)(at - frame) + bytes);
}
