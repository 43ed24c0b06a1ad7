# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# How to start servers that were written for epoll.  To be sourced, in a guest,
# after $top, $ask (the client of tools/proof) and $PROOF_ROOT are set.

export LD_LIBRARY_PATH=$PROOF_ROOT/usr/lib/x86_64-linux-gnu:$PROOF_ROOT/lib/x86_64-linux-gnu
preload=$top/build/lib/libdevepoll-preload.so

# nginx_conf DIR PORT [WORKERS]: prints the configuration of nginx
nginx_conf() {
	cat <<-END
		worker_processes ${3:-2};
		daemon off;
		user root;
		pid $1/pid;
		error_log $1/error.log;
		events { worker_connections 1024; use epoll; }
		http {
			access_log off;
			keepalive_requests 1000000;
			keepalive_timeout 1000000;
			client_body_temp_path $1/body;
			proxy_temp_path $1/proxy;
			fastcgi_temp_path $1/fastcgi;
			uwsgi_temp_path $1/uwsgi;
			scgi_temp_path $1/scgi;
			server { listen 127.0.0.1:$2; root $1/files; }
		}
	END
}

# server_program SERVER DIR PORT: sets $program to the command line of a server
# whose files are in DIR
server_program() {
	local bin=$PROOF_ROOT/usr/bin

	case $1 in
	nginx | node | tokio)
		mkdir "$2/files" && "$ask" -w "$2/files" || return 1
		;;
	esac
	case $1 in
	redis)
		program=("$bin/redis-server" --port "$3" --bind 127.0.0.1
			--save '' --appendonly no --dir "$2")
		;;
	nginx)
		nginx_conf "$2" "$3" >"$2/nginx.conf"
		program=("$PROOF_ROOT/usr/sbin/nginx" -e "$2/error.log"
			-c "$2/nginx.conf")
		;;
	memcached)
		program=("$bin/memcached" -u root -l 127.0.0.1 -p "$3" -U 0
			-t 4 -m 256)
		;;
	node)
		program=("$top/build/proof/node/bin/node"
			"$top/tools/proof/server.js" "$3" "$2/files")
		;;
	tokio)
		program=("$top/build/proof/tokio/release/tokio_server" "$3"
			"$2/files")
		;;
	*) return 1 ;;
	esac
}

# processes PID: prints the processes of a server, including its workers
processes() {
	echo "$1"
	tr ' ' '\n' <"/proc/$1/task/$1/children" | sed '/^$/d'
}
