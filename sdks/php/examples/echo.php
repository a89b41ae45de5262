<?php

require __DIR__ . '/vendor/autoload.php';

use Recado\Recado;
use Recado\Types\MessageReceivedEvent;

$recado = new Recado();
foreach ($recado->instances() as $instance) {
    if ($instance->name !== 'demo') {
        continue;
    }
    $instanceId = $instance->instanceId;
    foreach ($recado->streamEvents(instanceId: $instanceId, types: ['message.received']) as $event) {
        if ($event->data instanceof MessageReceivedEvent && $event->data->text) {
            $recado->sendText(instanceId: $instanceId, to: $event->data->chat, message: $event->data->text);
        }
    }
}
