<?php

require __DIR__ . '/vendor/autoload.php';

$recado = new Recado\Recado(); // RECADO_URL and RECADO_API_KEY
$instanceId = $recado->listInstances()->data[0]->instanceId;
$sent = $recado->sendText(instanceId: $instanceId, to: '5511988887766', message: 'Oi!');
echo $sent->messageId, PHP_EOL;
