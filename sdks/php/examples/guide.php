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

// step: groups
$groupId = $sandbox('groups', [
    'subject' => 'Clientes',
    'owner' => '5511988887766',
    'participants' => [['number' => '5511999990200'], ['number' => '5511977770100']],
])['id'];

// step: groups-2
$group = $recado->getGroup(instanceId: $instanceId, groupId: $groupId);
echo $group->subject, PHP_EOL;

// step: groups-3
$recado->sendText(instanceId: $instanceId, to: $groupId, message: 'Bom dia a todos!');

// step: make-a-group-and-change-it
$team = $recado->createGroup(
    instanceId: $instanceId,
    subject: 'Equipe',
    description: 'Quem trabalha aqui',
    participants: ['5511988887766', '11977770100', '5511988880000'],
);
echo $team->id, PHP_EOL;

// step: make-a-group-and-change-it-2
$groups = $recado->listGroups(instanceId: $instanceId, subject: 'equipe');
echo $groups->totalCount, PHP_EOL;

// step: make-a-group-and-change-it-3
$recado->changeGroup(
    instanceId: $instanceId,
    groupId: $team->id,
    description: null,
    info: 'admins',
    approval: true,
    disappearing: 604800,
);

// step: make-a-group-and-change-it-4
$settings = $recado->getGroupSettings(instanceId: $instanceId, groupId: $team->id);
echo $settings->info, PHP_EOL;

// step: make-a-group-and-change-it-5
$recado->changeGroupParticipants(
    instanceId: $instanceId,
    groupId: $team->id,
    action: 'promote',
    participants: ['5511988887766', '5511966660100'],
);

// step: invite-links-and-who-waits
$invite = $recado->getGroupInvite(instanceId: $instanceId, groupId: $team->id);
echo $invite->code, PHP_EOL;

// step: invite-links-and-who-waits-2
$invited = $recado->getInvitedGroup(instanceId: $instanceId, invite: $invite->code);
echo $invited->subject, PHP_EOL;

// step: invite-links-and-who-waits-3
$joined = $recado->joinGroup(instanceId: $instanceId, invite: $invite->code);
echo $joined->status, PHP_EOL;

// step: invite-links-and-who-waits-4
$sandbox('phones/5511966660100/join', ['invite' => $invite->code]);

// step: invite-links-and-who-waits-5
$recado->listJoinRequests(instanceId: $instanceId, groupId: $team->id);

// step: invite-links-and-who-waits-6
$recado->answerJoinRequests(
    instanceId: $instanceId,
    groupId: $team->id,
    action: 'approve',
    participants: ['5511966660100'],
);

// step: invite-links-and-who-waits-7
$recado->resetGroupInvite(instanceId: $instanceId, groupId: $team->id);

// step: communities
$community = $recado->createCommunity(instanceId: $instanceId, subject: 'Nossas lojas');
echo $community->id, PHP_EOL;

// step: communities-2
$communities = $recado->listCommunities(instanceId: $instanceId);
echo $communities->totalCount, PHP_EOL;

// step: communities-3
$recado->linkGroup(instanceId: $instanceId, communityId: $community->id, groupId: $team->id);

// step: communities-4
$linked = $recado->listCommunityGroups(instanceId: $instanceId, communityId: $community->id);
echo $linked->totalCount, PHP_EOL;

// step: communities-5
$recado->unlinkGroup(instanceId: $instanceId, communityId: $community->id, groupId: $team->id);

// step: communities-6
$recado->leaveGroup(instanceId: $instanceId, groupId: $team->id);

// step: channels
$followed = $sandbox('channels', [
    'owner' => '5511988887766',
    'name' => 'Novidades da Ana',
    'posts' => ['Canecas novas', 'Frete grátis na sexta'],
])['invite'];

// step: channels-2
$channel = $recado->getChannel(instanceId: $instanceId, channelId: $followed);
echo $channel->id, PHP_EOL;

// step: channels-3
$recado->followChannel(instanceId: $instanceId, channelId: $channel->id);
$recado->muteChannel(instanceId: $instanceId, channelId: $channel->id);

// step: channels-4
$channels = $recado->listChannels(instanceId: $instanceId, name: 'nov');
echo $channels->data[0]->name, PHP_EOL;

// step: channels-5
$recado->listChannelPosts(instanceId: $instanceId, channelId: $channel->id, limit: 1);

// step: channels-6
$recado->reactToPost(instanceId: $instanceId, channelId: $channel->id, messageId: '2', reaction: '👍');

// step: channels-7
$recado->unmuteChannel(instanceId: $instanceId, channelId: $channel->id);
$recado->unfollowChannel(instanceId: $instanceId, channelId: $channel->id);

// step: channels-8
$own = $recado->createChannel(instanceId: $instanceId, name: 'A loja');
echo $own->id, PHP_EOL;

// step: channels-9
$recado->sendText(instanceId: $instanceId, to: $own->id, message: 'Abrimos às 8!');

// step: post
$recado->postStatusText(
    instanceId: $instanceId,
    message: 'Aberto até as 20h hoje!',
    background: '#7E2AA8',
    font: 'bold',
);

// step: post-2
$recado->postStatusText(
    instanceId: $instanceId,
    message: 'Só para clientes VIP: 20% hoje',
    audience: ['5511988887766'],
);

// step: post-3
$recado->postStatusVideo(instanceId: $instanceId, video: "$files/clip.mp4");

// step: post-4
$recado->postStatusVoice(instanceId: $instanceId, audio: "$files/voice.ogg");

// step: post-5
$recado->postStatusImage(instanceId: $instanceId, image: "$files/photo.png", caption: 'Novidade');

// step: who-sees-it
$audience = $recado->listStatusAudience(instanceId: $instanceId);
echo $audience->rule, PHP_EOL;

// step: status-posts-of-contacts
$recado->listStatusPosts(instanceId: $instanceId, limit: 1);

// step: set-the-webhook
$webhook = $recado->saveWebhookConfig(
    instanceId: $instanceId,
    webhookUrl: "$files/recado",
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
);
echo $webhook->webhookUrl, PHP_EOL;

// step: set-the-webhook-2
$recado->testWebhook(instanceId: $instanceId, webhookId: $webhook->id);

// step: see-your-webhook
$config = $recado->getWebhookConfig(instanceId: $instanceId);
echo $config->webhookUrl, PHP_EOL;

// step: see-what-was-delivered
$recado->sendText(instanceId: $instanceId, to: '5511988887766', message: 'Chegou?');

// step: see-what-was-delivered-2
$recado->listWebhookDeliveries(instanceId: $instanceId, webhookId: $webhook->id, limit: 1);

// step: replay-events
$recado->replayWebhook(instanceId: $instanceId, webhookId: $webhook->id, fromSequence: 1);

// step: resume
$recado->resumeWebhook(instanceId: $instanceId, webhookId: $webhook->id);

// step: remove-the-webhook
$recado->deleteWebhookConfig(instanceId: $instanceId);

// step: deliver-to-several-places
$crm = $recado->createWebhook(
    instanceId: $instanceId,
    url: "$files/crm",
    events: ['message.received'],
    chats: ['direct'],
    headers: ['Authorization' => 'Bearer 7f3a'],
);
echo $crm->id, PHP_EOL;

// step: deliver-to-several-places-2
$recado->changeWebhook(instanceId: $instanceId, webhookId: $crm->id, chats: ['direct', 'group']);

// step: deliver-to-several-places-3
$recado->getWebhook(instanceId: $instanceId, webhookId: $crm->id);
$webhooks = $recado->listWebhooks(instanceId: $instanceId, limit: 1);
echo $webhooks->totalCount, PHP_EOL;

// step: deliver-to-several-places-4
$recado->testWebhook(instanceId: $instanceId, webhookId: $crm->id);
$recado->listWebhookDeliveries(instanceId: $instanceId, webhookId: $crm->id, limit: 1);
$recado->replayWebhook(instanceId: $instanceId, webhookId: $crm->id, fromSequence: 1);
$recado->resumeWebhook(instanceId: $instanceId, webhookId: $crm->id);
$recado->deleteWebhook(instanceId: $instanceId, webhookId: $crm->id);

// step: deliver-to-several-places-5
$desk = $partner->createAccountWebhook(url: "$files/desk", events: ['message.received']);
echo $desk->id, PHP_EOL;

// step: deliver-to-several-places-6
$partner->listAccountWebhooks(limit: 1);
$partner->getAccountWebhook(webhookId: $desk->id);
$partner->changeAccountWebhook(webhookId: $desk->id, isActive: false);
$partner->deleteAccountWebhook(webhookId: $desk->id);

// step: deliver-to-several-places-7
$partner->setAppSecret(appSecret: '7f3a5c1e9b2d4f6a');
$partner->getAppSecret();
$partner->deleteAppSecret();

// step: follow-the-stream
$types = ['message.received', 'instance.status'];
foreach ($recado->streamEvents(instanceId: $instanceId, types: $types, after: 0) as $event) {
    echo $event->type, PHP_EOL;
    break;
}

// step: send-once-even-when-you-ask-twice
$first = $recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Pedido 1234 enviado.',
    idempotencyKey: 'order-1234-shipped',
);
echo $first->messageId, PHP_EOL;

// step: send-once-even-when-you-ask-twice-2
$second = $recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Pedido 1234 enviado.',
    idempotencyKey: 'order-1234-shipped',
);
echo $second->messageId, PHP_EOL;

// step: send-once-even-when-you-ask-twice-3
$third = $recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Pedido 1234 enviado.',
    idempotencyKey: 'order-1234-shipped',
);
echo $third->messageId, PHP_EOL;

// step: send-once-even-when-you-ask-twice-4
try {
    $recado->sendText(
        instanceId: $instanceId,
        to: '5511988887766',
        message: 'Pedido 5678 enviado.',
        idempotencyKey: 'order-1234-shipped',
    );
} catch (RecadoError $error) {
    echo $error->errorCode, PHP_EOL;
}

// step: call-a-message-by-your-own-word
$recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'O pedido 1235 chega hoje.',
    clientData: 'order 1235',
);

// step: at-a-time
$sendAt = new DateTimeImmutable('+20 hours');
$queued = $recado->sendText(instanceId: $instanceId, to: '5511988887766', message: 'Amanhã às 9h?', sendAt: $sendAt);
echo $queued->id, PHP_EOL;

// step: see-the-queue
$queue = $recado->listQueue(instanceId: $instanceId);
echo $queue->totalCount, PHP_EOL;

// step: see-the-queue-2
$waiting = $recado->getQueuedMessage(instanceId: $instanceId, messageId: $queued->id);
echo $waiting->state, PHP_EOL;

// step: cancel
$recado->cancelQueuedMessage(instanceId: $instanceId, messageId: $queued->id);

// step: cancel-2
$recado->cancelQueue(instanceId: $instanceId);

// step: without-waiting
$recado->sendText(
    instanceId: $instanceId,
    to: '5511988887766',
    message: 'Recebemos seu pagamento.',
    prefer: 'respond-async',
    idempotencyKey: 'order-1234-paid',
);

// step: pages
$page = $recado->listInstances(page: 2, limit: 1);
echo $page->currentPage, PHP_EOL;

// step: when-it-goes-wrong
try {
    $recado->sendLocation(instanceId: $instanceId, to: '5511988887766', latitude: 91, longitude: -46.6559);
} catch (RecadoError $error) {
    echo $error->errorCode, PHP_EOL;
}

// step: when-it-goes-wrong-2
try {
    $recado->sendText(instanceId: $instanceId, to: '5511988880000', message: 'Oi!');
} catch (RecadoError $error) {
    echo $error->errorCode, PHP_EOL;
}

// step: keys
$key = $partner->createAPIKey(
    name: 'website',
    instanceIds: [$instanceId],
    expiresAt: new DateTimeImmutable('2030-01-01T00:00:00Z'),
);
echo $key->name, PHP_EOL;

// step: keys-2
$keys = $partner->listAPIKeys(page: 3, limit: 1);
echo $keys->totalCount, PHP_EOL;

// step: keys-3
$partner->revokeAPIKey(id: $key->id);

// step: keys-4
$website = new Recado($url, $key->key);
try {
    $website->listInstances();
} catch (RecadoError $error) {
    echo $error->errorCode, PHP_EOL;
}

// step: stop
$partner->stopInstance(instanceId: $instanceId);

// step: payment
$partner->setPayment(instanceId: $instanceId, pending: true);

// step: payment-2
try {
    $recado->sendText(instanceId: $instanceId, to: '5511988887766', message: 'Oi!');
} catch (RecadoError $error) {
    echo $error->errorCode, PHP_EOL;
}

// step: delete-an-instance
$partner->deleteInstance(instanceId: $instanceId);
