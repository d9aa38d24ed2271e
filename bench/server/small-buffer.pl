# perl small-buffer.pl PROGRAM ARGUMENT …: runs a program with a listening socket (descriptor in LISTEN_FD) that takes only a few
# kilobytes ahead of its reader, as a slow line does; Node cannot set that itself.
use strict;
use Socket;
$^F = 255;    # descriptors stay open over exec
socket(my $listener, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
setsockopt($listener, SOL_SOCKET, SO_RCVBUF, pack('l', 8192)) or die "setsockopt: $!";
bind($listener, sockaddr_in(0, INADDR_LOOPBACK)) or die "bind: $!";
listen($listener, 511) or die "listen: $!";
$ENV{LISTEN_FD} = fileno($listener);
exec(@ARGV) or die "exec: $!";
