<?php

// The guide (docs/guide.md) as a program. What belongs to a step stands between its mark and the next one.
// step: before-you-start
require __DIR__ . '/vendor/autoload.php';

use Recado\Errors\RecadoError;
use Recado\Recado;

$url = getenv('RECADO_URL') ?: 'http://127.0.0.1:8080';
$files = getenv('FILES') ?: "$url/sandbox/files";
$recado = new Recado(); // RECADO_URL and RECADO_API_KEY
$partner = new Recado(apiKey: getenv('RECADO_PARTNER_KEY'));

/** Lets simulated phones do what people would do. */
$sandbox = static function (string $path, array $body, string $method = 'POST') use ($url): ?array {
    $answer = file_get_contents("$url/sandbox/api/$path", false, stream_context_create(['http' => [
        'method' => $method,
        'header' => 'Content-Type: application/json',
        'content' => json_encode($body, JSON_THROW_ON_ERROR),
    ]]));
    return json_decode($answer, true);
};

// step: before-you-start-2
$health = $recado->getHealth();
echo $health->status, PHP_EOL;

// step: before-you-start-3
$readiness = $recado->getReadiness();
echo $readiness->status, PHP_EOL;

// step: link-a-phone
$instanceId = $partner->createInstance(name: 'shop')->instanceId;

// step: by-qr-code
$qr = $recado->getQRCode(instanceId: $instanceId);
echo $qr->code, PHP_EOL;

// step: by-qr-code-2
$sandbox('phones/5511999990200/scan', ['qrCode' => $qr->code]);

// step: by-qr-code-3
while ($recado->getInstance($instanceId)->status !== 'connected') {
    usleep(200_000);
}

// step: see-your-instances
foreach ($recado->instances() as $listed) {
    echo $listed->name, ' ', $listed->status, PHP_EOL;
}

// step: see-your-instances-2
$instance = $recado->getInstance(instanceId: $instanceId);
echo $instance->status, PHP_EOL;

// step: change-an-instance
$recado->changeInstance(
    instanceId: $instanceId,
    name: 'shop',
    device: ['name' => 'Front desk', 'kind' => 'chrome'],
    proxy: null,
);

// step: change-an-instance-2
$recado->changeInstance(instanceId: $instanceId, externalName: 'store-17');
$found = $recado->listInstances(externalName: 'store-17');
echo $found->data[0]->name, PHP_EOL;

// step: change-an-instance-3
$recado->changeInstance(instanceId: $instanceId, externalName: null);

// step: what-an-instance-does-by-itself
$recado->changeInstance(
    instanceId: $instanceId,
    readMessages: true,
    readStatuses: true,
    alwaysOnline: true,
    ignoreGroups: true,
);
$recado->changeInstance(
    instanceId: $instanceId,
    readMessages: null,
    readStatuses: null,
    alwaysOnline: null,
    ignoreGroups: null,
);

// step: what-the-account-has-to-heed
$limits = $recado->getLimits(instanceId: $instanceId);
echo $limits->restriction->active, PHP_EOL;

// step: restart
$recado->restartInstance(instanceId: $instanceId);

// step: log-out
$recado->logoutInstance(instanceId: $instanceId);

// step: by-pairing-code
$pairing = $recado->getPairingCode(instanceId: $instanceId, phone: '5511999990200');
echo $pairing->pairingCode, PHP_EOL;

// step: by-pairing-code-2
$sandbox('phones/5511999990200/pairing-code', ['code' => $pairing->pairingCode]);

// step: by-pairing-code-3
while ($recado->getInstance($instanceId)->status !== 'connected') {
    usleep(200_000);
}

// step: with-a-passkey
$recado->logoutInstance(instanceId: $instanceId);
$sandbox('phones/5511999990200', ['passkey' => true], 'PUT');
$raw = $recado->getQRCode(instanceId: $instanceId, format: 'raw');
$sandbox('phones/5511999990200/scan', ['qrCode' => $raw->code]);
while ($recado->getPasskey($instanceId)->state !== 'requested') {
    usleep(200_000);
}

// step: with-a-passkey-2
$passkey = $recado->getPasskey(instanceId: $instanceId);
echo $passkey->state, PHP_EOL;

// step: with-a-passkey-3
$signed = $sandbox('phones/5511999990200/passkey/assert', ['request' => $passkey->request]);
$recado->answerPasskey($instanceId, $signed['id'], $signed['rawId'], 'public-key', $signed['response']);

// step: with-a-passkey-4
while ($recado->getInstance($instanceId)->status !== 'connected') {
    usleep(200_000);
}

// step: with-a-passkey-5
$recado->confirmPasskey(instanceId: $instanceId);

// step: check-numbers
$checked = $recado->checkNumbers(instanceId: $instanceId, numbers: ['11988887766', '5511977776655', '5511988880000']);
echo $checked->results[0]->jid, PHP_EOL;

// step: text
$sent = $recado->sendText(instanceId: $instanceId, to: '11988887766', message: 'Oi! Seu pedido saiu para entrega.');
echo $sent->messageId, PHP_EOL;

// step: reply
$messageId = $sent->messageId;
$recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Chega até as 18h.',
    quoteMessageId: $messageId,
);

// step: reply-2
$recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Chega até as 19h.',
    quoteMessageId: "5511988887766@s.whatsapp.net_$messageId",
);

// step: reply-3
$recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Chega até as 20h.',
    quoteMessageId: $sent->id,
);

// step: mentions
$recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Fala com a @5511966665544, por favor.',
    mentions: ['5511966665544'],
);

// step: link-preview
$recado->sendText(instanceId: $instanceId, to: '5511988887766', message: "Veja $files", linkPreview: true);

// step: image
$recado->sendImage(instanceId: $instanceId, to: '5511988887766', image: "$files/photo.png", caption: 'Seu pedido');

// step: image-2
$photo = file_get_contents("$files/photo.png");
$encoded = base64_encode($photo);
$recado->sendImage(instanceId: $instanceId, to: '5511988887766', image: "data:image/png;base64,$encoded");

// step: image-3
$once = $recado->upload(fopen("$files/photo.png", 'r'), 'photo.png');
$recado->sendImage(instanceId: $instanceId, to: '5511988887766', image: "upload:$once->id", viewOnce: true);

// step: send-a-file-many-times
$upload = $recado->upload(fopen("$files/photo.png", 'r'), 'photo.png');
echo $upload->id, PHP_EOL;

// step: send-a-file-many-times-2
$recado->sendImage(instanceId: $instanceId, to: '5511988887766', image: "upload:{$upload->id}");

// step: send-a-file-many-times-3
$stored = $recado->getUpload(uploadId: $upload->id);
echo $stored->fileName, PHP_EOL;

// step: send-a-file-many-times-4
$uploads = $recado->listUploads(limit: 10);
echo $uploads->data[0]->fileName, PHP_EOL;

// step: send-a-file-many-times-5
$uploaded = $recado->getUploadDownloadLink(uploadId: $upload->id);
echo $uploaded->url, PHP_EOL;

// step: send-a-file-many-times-6
$recado->deleteUpload(uploadId: $upload->id);

// step: video
$recado->sendVideo(instanceId: $instanceId, to: '5511988887766', video: "$files/clip.mp4", caption: 'Como montar');

// step: video-note
$recado->sendVideoNote(instanceId: $instanceId, to: '5511988887766', video: "$files/clip.mp4");

// step: album
$recado->sendAlbum(
    instanceId: $instanceId,
    to: '5511988887766',
    items: [['image' => "$files/photo.png", 'caption' => 'Seu pedido'], ['video' => "$files/clip.mp4"]],
);

// step: voice-note
$recado->sendVoiceNote(instanceId: $instanceId, to: '5511988887766', audio: "$files/voice.ogg");

// step: audio-file
$recado->sendAudioFile(instanceId: $instanceId, to: '5511988887766', audio: "$files/tone.mp3");

// step: document
$document = $recado->sendDocument(
    instanceId: $instanceId,
    to: '5511988887766',
    document: "$files/invoice.pdf",
    fileName: 'Nota fiscal 1234.pdf',
    caption: 'Sua nota',
);

// step: sticker
$recado->sendSticker(instanceId: $instanceId, to: '5511988887766', sticker: "$files/sticker.webp");

// step: location
$recado->sendLocation(
    instanceId: $instanceId,
    to: '5511988887766',
    latitude: -23.5614,
    longitude: -46.6559,
    name: 'MASP',
    address: 'Av. Paulista, 1578',
);

// step: contact-card
$recado->sendContact(
    instanceId: $instanceId,
    to: '5511988887766',
    contact: ['fullName' => 'Ana Souza', 'phoneNumber' => '5511977776655', 'organization' => 'Loja Ltda.'],
);

// step: polls
$poll = $recado->sendPoll(
    instanceId: $instanceId,
    to: '5511988887766',
    question: 'Quando entregamos?',
    options: ['Hoje', 'Amanhã'],
);

// step: polls-2
$votes = $recado->getVotes(instanceId: $instanceId, messageId: $poll->messageId);
echo $votes->voters, PHP_EOL;

// step: templates
$recado->createTemplate(
    name: 'order_shipped',
    language: 'pt_BR',
    components: [['type' => 'BODY', 'text' => 'Olá {{1}}, o pedido {{2}} saiu para entrega.']],
);

// step: templates-2
$recado->sendTemplate(
    instanceId: $instanceId,
    to: '5511988887766',
    name: 'order_shipped',
    language: 'pt_BR',
    bodyParameters: ['1' => 'Ana', '2' => '1234'],
);

// step: templates-3
$templates = $recado->listTemplates(name: 'order_shipped');
$recado->deleteTemplate(templateId: $templates->data[0]->id);

// step: calendar-events
$appointment = $recado->sendEvent(
    instanceId: $instanceId,
    to: '5511988887766',
    name: 'Prova da camiseta',
    start: new DateTimeImmutable('2031-05-06T13:00:00Z'),
    end: new DateTimeImmutable('2031-05-06T13:30:00Z'),
    location: ['name' => 'Nossa loja'],
);

// step: calendar-events-2
$recado->cancelEvent(instanceId: $instanceId, messageId: $appointment->messageId);

// step: react
$recado->sendReaction(instanceId: $instanceId, messageId: $messageId, reaction: '👍');

// step: pin
$recado->pinMessage(instanceId: $instanceId, messageId: $messageId, durationSeconds: 604800);

// step: pin-2
$recado->unpinMessage(instanceId: $instanceId, messageId: $messageId);

// step: star
$recado->starMessage(instanceId: $instanceId, messageId: $messageId);
$recado->unstarMessage(instanceId: $instanceId, messageId: $messageId);

// step: forward
$recado->forwardMessage(instanceId: $instanceId, to: '5511977770100', messageId: $messageId);

// step: edit
$recado->editMessage(instanceId: $instanceId, messageId: $messageId, message: 'Oi! Seu pedido chegou.');

// step: delete
$recado->deleteMessage(instanceId: $instanceId, messageId: $messageId);

// step: mark-as-read
$received = $sandbox(
    'phones/5511988887766/messages',
    ['to' => '5511999990200', 'type' => 'text', 'text' => 'Obrigada!'],
)['messageId'];
foreach ($recado->streamEvents(instanceId: $instanceId, types: ['message.received'], after: 0) as $event) {
    echo $event->type, PHP_EOL;
    break;
}

// step: mark-as-read-2
$recado->markRead(instanceId: $instanceId, messageId: $received);

// step: download-a-file
$link = $recado->getMediaDownloadLink(instanceId: $instanceId, messageId: $document->messageId);
echo $link->fileName, PHP_EOL;

// step: download-a-file-2
$invoice = file_get_contents($link->url);
echo strlen($invoice), PHP_EOL;

// step: get-a-message
$thanks = $recado->getMessage(instanceId: $instanceId, messageId: $received);
echo $thanks->status, PHP_EOL;

// step: list-chats
$chats = $recado->listChats(instanceId: $instanceId, search: '98888-7766');
echo $chats->data[0]->chat, PHP_EOL;

// step: get-a-chat
$chat = $recado->getChat(instanceId: $instanceId, chatId: '5511988887766');
echo $chat->unreadCount, PHP_EOL;

// step: list-the-messages-of-a-chat
$documents = $recado->listChatMessages(instanceId: $instanceId, chatId: '5511988887766', types: 'document', limit: 1);
echo $documents->data[0]->type, PHP_EOL;

// step: search
$notes = $recado->listChatMessages(instanceId: $instanceId, chatId: '5511988887766', search: 'NOTA su', limit: 1);
echo $notes->data[0]->type, PHP_EOL;

// step: list-or-search-the-messages-of-all-chats
$everywhere = $recado->listMessages(instanceId: $instanceId, search: 'NOTA su', fromMe: true, limit: 1);
echo $everywhere->data[0]->type, PHP_EOL;

// step: older-messages
$history = $recado->requestHistory(instanceId: $instanceId, chatId: '5511988887766', count: 20);
echo $history->requestId, PHP_EOL;

// step: arrange-chats
$recado->changeChat(instanceId: $instanceId, chatId: '5511988887766', archived: true, mutedUntil: 'forever');

// step: arrange-chats-2
$recado->deleteChat(instanceId: $instanceId, chatId: '5511977770100');

// step: delete-for-yourself
$recado->deleteMessageForMe(instanceId: $instanceId, messageId: $received);

// step: labels
$label = $recado->createLabel(instanceId: $instanceId, name: 'Waiting for payment', color: 3);
echo $label->labelId, PHP_EOL;
$labelId = $label->labelId;

// step: labels-2
$recado->labelChat(instanceId: $instanceId, chatId: '5511988887766', labelId: $labelId);

// step: labels-3
$recado->unlabelChat(instanceId: $instanceId, chatId: '5511988887766', labelId: $labelId);

// step: labels-4
$recado->labelMessage(instanceId: $instanceId, messageId: $received, labelId: $labelId);

// step: labels-5
$recado->unlabelMessage(instanceId: $instanceId, messageId: $received, labelId: $labelId);

// step: labels-6
$labels = $recado->listLabels(instanceId: $instanceId);
echo $labels->totalCount, PHP_EOL;

// step: labels-7
$one = $recado->getLabel(instanceId: $instanceId, labelId: $labelId);
echo $one->name, PHP_EOL;

// step: labels-8
$recado->changeLabel(instanceId: $instanceId, labelId: $labelId, name: 'Paid');

// step: labels-9
$recado->deleteLabel(instanceId: $instanceId, labelId: $labelId);

// step: presence
$recado->sendPresence(instanceId: $instanceId, to: '5511988887766', presence: 'composing');

// step: presence-of-contacts
$recado->subscribePresence(instanceId: $instanceId, phone: '5511988887766', hours: 24);

// step: presence-of-contacts-2
$subscription = $recado->getPresenceSubscription(instanceId: $instanceId, phone: '5511988887766');
echo $subscription->id, PHP_EOL;

// step: presence-of-contacts-3
$subscriptions = $recado->listPresenceSubscriptions(instanceId: $instanceId);
echo $subscriptions->totalCount, PHP_EOL;

// step: presence-of-contacts-4
$recado->unsubscribePresence(instanceId: $instanceId, phone: '5511988887766');

// step: profile-picture
$recado->getProfilePicture(instanceId: $instanceId, phone: '5511977770100');

// step: profile-picture-2
$sandbox('phones/5511988887766', ['profilePicture' => "$files/photo.png"], 'PUT');

// step: profile-picture-3
$recado->getProfilePicture(instanceId: $instanceId, phone: '11988887766');

// step: contacts
$recado->nameContact(instanceId: $instanceId, phone: '5511988887766', name: 'Gabriela (shop)');

// step: contacts-2
$contact = $recado->getContact(instanceId: $instanceId, phone: '5511988887766');
echo $contact->id, PHP_EOL;

// step: contacts-3
$contacts = $recado->listContacts(instanceId: $instanceId, search: '(shop)');
echo $contacts->totalCount, PHP_EOL;

// step: contacts-4
$recado->findAddresses(instanceId: $instanceId, addresses: ['5511988887766']);

// step: block-and-unblock
$recado->blockContact(instanceId: $instanceId, phone: '5511988887766');

// step: block-and-unblock-2
$recado->unblockContact(instanceId: $instanceId, phone: '5511988887766');

// step: profile
$profile = $recado->getProfile(instanceId: $instanceId);
echo $profile->name, PHP_EOL;

// step: profile-2
$recado->changeProfile(instanceId: $instanceId, about: 'Aberto das 8 às 18');

// step: privacy
$privacy = $recado->getPrivacy(instanceId: $instanceId);
echo $privacy->disappearing, PHP_EOL;

// step: privacy-2
$recado->changePrivacy(instanceId: $instanceId, lastSeen: 'contacts', groups: 'contacts');

// step: block-list
$recado->putBlock(instanceId: $instanceId, phone: '5511988887766');

// step: block-list-2
$blocks = $recado->listBlocks(instanceId: $instanceId);
echo $blocks->totalCount, PHP_EOL;

// step: block-list-3
$recado->deleteBlock(instanceId: $instanceId, phone: '5511988887766');

// step: calls
$callId = $sandbox('phones/5511988887766/call', ['to' => '5511999990200'])['callId'];
foreach ($recado->streamEvents(instanceId: $instanceId, types: ['call.received'], after: 0) as $event) {
    echo $event->type, PHP_EOL;
    break;
}

// step: calls-2
$recado->rejectCall(instanceId: $instanceId, callId: $callId);

// step: calls-3
$recado->changeInstance(
    instanceId: $instanceId,
    rejectCalls: true,
    rejectCallsText: 'We can not take calls here. Please write.',
);

// step: calls-4
$recado->changeInstance(instanceId: $instanceId, rejectCalls: null, rejectCallsText: null);
