/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of sluicectl. The program and its manual page read the same table. Constant data; any thread. */
#include "cli/cli.h"

const struct cli_option sluicectl_options[] = {
	{'n', "node", "NODE", "connect to NODE; default: the only running node"},
	{'s', "socket", "PATH",
		"connect to the socket PATH; default: /run/sluice/NODE.sock, or $XDG_RUNTIME_DIR/sluice/NODE.sock if "
		"not root"},
	{'j', "json", NULL, "print answers and errors as JSON"},
	{'w', "watch", "SECONDS", "run COMMAND again every SECONDS, until Ctrl-C"},
	{'h', "help", NULL, "print this help"},
};
const size_t n_sluicectl_options = sizeof(sluicectl_options) / sizeof(sluicectl_options[0]);
