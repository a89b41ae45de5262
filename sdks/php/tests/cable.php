<?php

// A listener before the server whose URL is its argument. It prints its own URL. For each line that it reads it breaks
// the connections that are open.

$far = 'tcp://' . parse_url($argv[1], PHP_URL_HOST) . ':' . parse_url($argv[1], PHP_URL_PORT);
$server = stream_socket_server('tcp://127.0.0.1:0');
echo 'http://', stream_socket_get_name($server, false), "\n";
for ($others = [], $sockets = [];;) {
    $ready = [STDIN, $server, ...$sockets];
    [$none, $neither] = [null, null];
    stream_select($ready, $none, $neither, null);
    foreach ($ready as $from) {
        if ($from === STDIN) {
            if (fgets(STDIN) === false) {
                exit;
            }
            array_map(fclose(...), $sockets);
            [$sockets, $others] = [[], []];
            break;
        }
        if ($from === $server) {
            [$near, $behind] = [stream_socket_accept($server), stream_socket_client($far)];
            foreach ([[$near, $behind], [$behind, $near]] as [$socket, $other]) {
                stream_set_blocking($socket, false);
                $sockets[(int) $socket] = $socket;
                $others[(int) $socket] = $other;
            }
            continue;
        }
        if (!isset($others[(int) $from])) {
            continue;
        }
        $other = $others[(int) $from];
        $piece = fread($from, 1 << 16);
        if ($piece === '' && feof($from)) {
            unset($sockets[(int) $from], $sockets[(int) $other], $others[(int) $from], $others[(int) $other]);
            fclose($from);
            fclose($other);
            continue;
        }
        stream_set_blocking($other, true);
        fwrite($other, $piece);
        stream_set_blocking($other, false);
    }
}
