<?php

// Posts a text to every group whose name has some words in it. If it is cut short, run it again within a day: groups
// that have the text already do not get it twice.
//
//     php group-announcer.php condomínio 'A água volta às 18h.'

require __DIR__ . '/vendor/autoload.php';

use Recado\Errors\RecadoError;
use Recado\Recado;

if ($argc !== 3) {
    fwrite(STDERR, "usage: php group-announcer.php WORDS TEXT\n");
    exit(2);
}
[, $words, $text] = $argv;

$recado = new Recado(); // RECADO_URL and RECADO_API_KEY
$instanceId = $recado->listInstances()->data[0]->instanceId;
$failed = false;
foreach ($recado->groups(instanceId: $instanceId, subject: $words) as $group) {
    try {
        $recado->sendText(
            instanceId: $instanceId,
            to: $group->id,
            message: $text,
            idempotencyKey: hash('sha256', "$group->id $text"),
        );
        echo $group->subject, PHP_EOL;
    } catch (RecadoError $error) { // such as a group in which only admins write; the others get it
        fwrite(STDERR, "$group->subject: {$error->getMessage()}\n");
        $failed = true;
    }
}
exit($failed ? 1 : 0);
