/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of sluicectl. The program and its manual page read the same table. Constant data; any thread. */
#include "cli/cli.h"

const struct cli_option sluicectl_options[] = {
	{'n', "node", "NODE", "node to talk to; default: the only one that runs here"},
	{'s', "socket", "PATH",
		"its socket; default: /run/sluice/NODE.sock, for users $XDG_RUNTIME_DIR/sluice/NODE.sock"},
	{'j', "json", NULL, "answers as JSON"},
	{'h', "help", NULL, "print this"},
};
const size_t n_sluicectl_options = sizeof(sluicectl_options) / sizeof(sluicectl_options[0]);
