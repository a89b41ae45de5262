<?php

// A page for your own dashboard: your customer scans the QR code there, and sees whether the account is connected. The
// key stays on your server. Which instance it is comes from your own session, here from a variable.
//
//     EXTERNAL_NAME=store-17 php -S 127.0.0.1:3000 embed.php

require __DIR__ . '/vendor/autoload.php';

use Recado\Errors\RecadoError;
use Recado\Recado;

$recado = new Recado(); // RECADO_URL and RECADO_API_KEY
$instance = $recado->listInstances(externalName: (string) getenv('EXTERNAL_NAME'))->data[0] ?? null;
if ($instance === null) {
    http_response_code(404);
    exit('Conta não encontrada.');
}
$qrCode = null;
$state = 'Conectado: ' . $instance->messengerId;
if ($instance->status !== 'connected') {
    $state = 'Abra o WhatsApp, toque em "Dispositivos conectados" e escaneie o código.';
    try {
        $qrCode = $recado->getQRCode(instanceId: $instance->instanceId)->qrCode;
    } catch (RecadoError $error) { // it is linked by now, or there is no code yet
        error_log($error->getMessage());
        $state = 'Um momento…';
    }
}
header('Cache-Control: no-store');
?>
<!doctype html>
<html lang="pt-BR">
  <meta charset="utf-8">
  <meta http-equiv="refresh" content="5">
  <title><?= htmlspecialchars($instance->name) ?></title>
  <h1><?= htmlspecialchars($instance->name) ?></h1>
  <p><?= htmlspecialchars($state) ?></p>
<?php if ($qrCode !== null) { ?>
  <img src="<?= htmlspecialchars($qrCode) ?>" alt="QR code" width="300">
<?php } ?>
</html>
