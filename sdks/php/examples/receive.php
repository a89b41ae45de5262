<?php

require __DIR__ . '/vendor/autoload.php';

use Recado\Errors\WebhookError;
use Recado\Recado;
use Recado\Types\MessageReceivedEvent;

$secret = getenv('WEBHOOK_SECRET');
$body = file_get_contents('php://input');
try {
    $event = Recado::verifyWebhook($secret, getallheaders(), $body);
} catch (WebhookError) {
    http_response_code(401);
    exit;
}
if ($event->data instanceof MessageReceivedEvent) {
    error_log($event->data->from?->name . ': ' . $event->data->text);
}
http_response_code(204);
