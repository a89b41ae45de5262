<?php

// A server that gives the answers of its arguments in turn, byte for byte, and the last one again and again. It prints
// its address, and each request in base64 as JSON. It hangs up after an answer, unless that ends with three dots.

$answers = array_slice($argv, 1);
$server = stream_socket_server('tcp://127.0.0.1:0');
echo 'http://', stream_socket_get_name($server, false), "\n";
for ($open = []; $client = stream_socket_accept($server, -1);) {
    $target = explode(' ', (string) fgets($client))[1] ?? '';
    for ($headers = []; ($line = rtrim((string) fgets($client))) !== '';) {
        [$name, $value] = explode(':', $line, 2);
        $headers[strtolower($name)] = trim($value);
    }
    $length = (int) ($headers['content-length'] ?? 0);
    $body = $length > 0 ? stream_get_contents($client, $length) : '';
    echo base64_encode(json_encode(['target' => $target, 'headers' => $headers, 'body' => $body])), "\n";
    $answer = count($answers) > 1 ? array_shift($answers) : $answers[0];
    if (str_ends_with($answer, '...')) {
        $open[] = $client;
        fwrite($client, substr($answer, 0, -3));
        continue;
    }
    fwrite($client, $answer);
    fclose($client);
}
