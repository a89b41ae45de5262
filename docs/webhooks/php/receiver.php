<?php
// Receives webhooks, and accepts only requests that the gateway has signed.

const TOLERANCE = 5 * 60; // seconds; an older request may have been recorded and sent again

$secret = getenv('WEBHOOK_SECRET');
if (!is_string($secret) || $secret === '') {
    http_response_code(500);
    exit('WEBHOOK_SECRET is not set');
}
$body = file_get_contents('php://input'); // the raw bytes: they are what is signed
if (!signed(keyOf($secret), $body)) {
    http_response_code(401);
    exit;
}
$event = json_decode($body, true);
// Here: drop the event if you have seen its webhook-id before, put it into your
// queue, and only then answer. Do the slow work later.
error_log($event['type']);
http_response_code(204);

// signed reports whether one of the signatures is right. For a day after the secret
// has changed, there are two.
function signed(string $key, string $body): bool
{
    $id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
    $timestamp = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if ($id === '' || !ctype_digit($timestamp) || abs(time() - (int) $timestamp) > TOLERANCE) {
        return false;
    }
    $want = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $signature) {
        if (hash_equals($want, $signature)) { // takes equally long, right or wrong
            return true;
        }
    }
    return false;
}

// keyOf decodes whsec_ and base64; any other secret is its own key.
function keyOf(string $secret): string
{
    if (str_starts_with($secret, 'whsec_')) {
        $encoded = substr($secret, strlen('whsec_'));
        $key = base64_decode($encoded, true);
        if ($key && base64_encode($key) === $encoded) {
            return $key;
        }
    }
    return $secret;
}
