// SPDX-License-Identifier: GPL-2.0
// An HTTP server on Node that gives the files of a folder, for tools/proof/serve.
// It ends well at a SIGTERM.
//
// usage: node server.js PORT FOLDER

'use strict';

const fs = require('fs');
const http = require('http');
const path = require('path');

const [port, folder] = process.argv.slice(2);

const server = http.createServer((request, response) => {
	const name = path.join(folder, path.basename(request.url));
	fs.readFile(name, (error, data) => {
		if (error) {
			response.writeHead(404, { 'Content-Length': 0 });
			response.end();
			return;
		}
		response.writeHead(200, { 'Content-Length': data.length });
		response.end(data);
	});
});

server.keepAliveTimeout = 0;
server.requestTimeout = 0;
server.timeout = 0;
process.on('SIGTERM', () => process.exit(0));
server.listen(Number(port), '127.0.0.1');
