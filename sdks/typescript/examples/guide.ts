// The guide (docs/guide.md) as a program. What belongs to a step stands between its mark and the next one.
// step: before-you-start
import { setTimeout } from 'node:timers/promises';
import { items, type PasskeyAnswer, Recado, RecadoError } from 'recado';

const url = process.env.RECADO_URL ?? 'http://127.0.0.1:8080';
const files = process.env.FILES ?? `${url}/sandbox/files`;
const recado = new Recado(); // RECADO_URL and RECADO_API_KEY
const partner = new Recado({ apiKey: process.env.RECADO_PARTNER_KEY });

/** sandbox lets simulated phones do what people would do. */
async function sandbox<Answer>(path: string, body: object, method = 'POST'): Promise<Answer> {
  const response = await fetch(`${url}/sandbox/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return JSON.parse((await response.text()) || 'null');
}

// step: before-you-start-2
const health = await recado.getHealth();
console.log(health.status);

// step: before-you-start-3
const readiness = await recado.getReadiness();
console.log(readiness.status);

// step: link-a-phone
const { instanceId } = await partner.createInstance({ name: 'shop' });

// step: by-qr-code
const qr = await recado.getQrCode({ instanceId });
console.log(qr.code);

// step: by-qr-code-2
await sandbox('phones/5511999990200/scan', { qrCode: qr.code });

// step: by-qr-code-3
while ((await recado.getInstance({ instanceId })).status !== 'connected') await setTimeout(200);

// step: see-your-instances
for await (const { name, status } of items((page) => recado.listInstances({ page }))) console.log(name, status);

// step: see-your-instances-2
const instance = await recado.getInstance({ instanceId });
console.log(instance.status);

// step: change-an-instance
await recado.changeInstance({ instanceId, name: 'shop', device: { name: 'Front desk', kind: 'chrome' }, proxy: null });

// step: change-an-instance-2
await recado.changeInstance({ instanceId, externalName: 'store-17' });
const found = await recado.listInstances({ externalName: 'store-17' });
console.log(found.data[0]?.name);

// step: change-an-instance-3
await recado.changeInstance({ instanceId, externalName: null });

// step: what-an-instance-does-by-itself
await recado.changeInstance({
  instanceId,
  readMessages: true,
  readStatuses: true,
  alwaysOnline: true,
  ignoreGroups: true,
});
await recado.changeInstance({
  instanceId,
  readMessages: null,
  readStatuses: null,
  alwaysOnline: null,
  ignoreGroups: null,
});

// step: what-the-account-has-to-heed
const limits = await recado.getLimits({ instanceId });
console.log(limits.restriction.active);

// step: restart
await recado.restartInstance({ instanceId });

// step: log-out
await recado.logoutInstance({ instanceId });

// step: by-pairing-code
const pairing = await recado.getPairingCode({ instanceId, phone: '5511999990200' });
console.log(pairing.pairingCode);

// step: by-pairing-code-2
await sandbox('phones/5511999990200/pairing-code', { code: pairing.pairingCode });

// step: by-pairing-code-3
while ((await recado.getInstance({ instanceId })).status !== 'connected') await setTimeout(200);

// step: with-a-passkey
await recado.logoutInstance({ instanceId });
await sandbox('phones/5511999990200', { passkey: true }, 'PUT');
const raw = await recado.getQrCode({ instanceId, format: 'raw' });
await sandbox('phones/5511999990200/scan', { qrCode: raw.code });
while ((await recado.getPasskey({ instanceId })).state !== 'requested') await setTimeout(200);

// step: with-a-passkey-2
const passkey = await recado.getPasskey({ instanceId });
console.log(passkey.state);

// step: with-a-passkey-3
const signed = await sandbox<PasskeyAnswer>('phones/5511999990200/passkey/assert', { request: passkey.request });
await recado.answerPasskey({ instanceId, ...signed });

// step: with-a-passkey-4
while ((await recado.getInstance({ instanceId })).status !== 'connected') await setTimeout(200);

// step: with-a-passkey-5
await recado.confirmPasskey({ instanceId });

// step: check-numbers
const checked = await recado.checkNumbers({ instanceId, numbers: ['11988887766', '5511977776655', '5511988880000'] });
console.log(checked.results[0]?.jid);

// step: text
const sent = await recado.sendText({ instanceId, to: '11988887766', message: 'Oi! Seu pedido saiu para entrega.' });
console.log(sent.messageId);

// step: reply
const { messageId } = sent;
await recado.sendText({ instanceId, to: '5511988887766', message: 'Chega até as 18h.', quoteMessageId: messageId });

// step: reply-2
await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'Chega até as 19h.',
  quoteMessageId: `5511988887766@s.whatsapp.net_${messageId}`,
});

// step: reply-3
await recado.sendText({ instanceId, to: '5511988887766', message: 'Chega até as 20h.', quoteMessageId: sent.id });

// step: mentions
await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'Fala com a @5511966665544, por favor.',
  mentions: ['5511966665544'],
});

// step: link-preview
await recado.sendText({ instanceId, to: '5511988887766', message: `Veja ${files}`, linkPreview: true });

// step: image
await recado.sendImage({ instanceId, to: '5511988887766', image: `${files}/photo.png`, caption: 'Seu pedido' });

// step: image-2
const photo = await (await fetch(`${files}/photo.png`)).blob();
const encoded = Buffer.from(await photo.arrayBuffer()).toString('base64');
await recado.sendImage({ instanceId, to: '5511988887766', image: `data:image/png;base64,${encoded}` });

// step: image-3
const once = await recado.upload(photo, { fileName: 'photo.png' });
await recado.sendImage({ instanceId, to: '5511988887766', image: `upload:${once.id}`, viewOnce: true });

// step: send-a-file-many-times
const upload = await recado.upload(photo, { fileName: 'photo.png' });
console.log(upload.id);

// step: send-a-file-many-times-2
await recado.sendImage({ instanceId, to: '5511988887766', image: `upload:${upload.id}` });

// step: send-a-file-many-times-3
const stored = await recado.getUpload({ uploadId: upload.id });
console.log(stored.fileName);

// step: send-a-file-many-times-4
const uploads = await recado.listUploads({ limit: 10 });
console.log(uploads.data[0]?.fileName);

// step: send-a-file-many-times-5
const uploaded = await recado.getUploadDownloadLink({ uploadId: upload.id });
console.log(uploaded.url);

// step: send-a-file-many-times-6
await recado.deleteUpload({ uploadId: upload.id });

// step: video
await recado.sendVideo({ instanceId, to: '5511988887766', video: `${files}/clip.mp4`, caption: 'Como montar' });

// step: video-note
await recado.sendVideoNote({ instanceId, to: '5511988887766', video: `${files}/clip.mp4` });

// step: album
await recado.sendAlbum({
  instanceId,
  to: '5511988887766',
  items: [{ image: `${files}/photo.png`, caption: 'Seu pedido' }, { video: `${files}/clip.mp4` }],
});

// step: voice-note
await recado.sendVoiceNote({ instanceId, to: '5511988887766', audio: `${files}/voice.ogg` });

// step: audio-file
await recado.sendAudioFile({ instanceId, to: '5511988887766', audio: `${files}/tone.mp3` });

// step: document
const document = await recado.sendDocument({
  instanceId,
  to: '5511988887766',
  document: `${files}/invoice.pdf`,
  fileName: 'Nota fiscal 1234.pdf',
  caption: 'Sua nota',
});

// step: sticker
await recado.sendSticker({ instanceId, to: '5511988887766', sticker: `${files}/sticker.webp` });

// step: location
await recado.sendLocation({
  instanceId,
  to: '5511988887766',
  latitude: -23.5614,
  longitude: -46.6559,
  name: 'MASP',
  address: 'Av. Paulista, 1578',
});

// step: contact-card
await recado.sendContact({
  instanceId,
  to: '5511988887766',
  contact: { fullName: 'Ana Souza', phoneNumber: '5511977776655', organization: 'Loja Ltda.' },
});

// step: polls
const poll = await recado.sendPoll({
  instanceId,
  to: '5511988887766',
  question: 'Quando entregamos?',
  options: ['Hoje', 'Amanhã'],
});

// step: polls-2
const votes = await recado.getVotes({ instanceId, messageId: poll.messageId });
console.log(votes.voters);

// step: templates
await recado.createTemplate({
  name: 'order_shipped',
  language: 'pt_BR',
  components: [{ type: 'BODY', text: 'Olá {{1}}, o pedido {{2}} saiu para entrega.' }],
});

// step: templates-2
await recado.sendTemplate({
  instanceId,
  to: '5511988887766',
  name: 'order_shipped',
  language: 'pt_BR',
  bodyParameters: { '1': 'Ana', '2': '1234' },
});

// step: templates-3
const templates = await recado.listTemplates({ name: 'order_shipped' });
await recado.deleteTemplate({ templateId: templates.data[0].id });

// step: calendar-events
const appointment = await recado.sendEvent({
  instanceId,
  to: '5511988887766',
  name: 'Prova da camiseta',
  start: '2031-05-06T13:00:00Z',
  end: '2031-05-06T13:30:00Z',
  location: { name: 'Nossa loja' },
});

// step: calendar-events-2
await recado.cancelEvent({ instanceId, messageId: appointment.messageId });

// step: react
await recado.sendReaction({ instanceId, messageId, reaction: '👍' });

// step: pin
await recado.pinMessage({ instanceId, messageId, durationSeconds: 604800 });

// step: pin-2
await recado.unpinMessage({ instanceId, messageId });

// step: star
await recado.starMessage({ instanceId, messageId });
await recado.unstarMessage({ instanceId, messageId });

// step: forward
await recado.forwardMessage({ instanceId, to: '5511977770100', messageId });

// step: edit
await recado.editMessage({ instanceId, messageId, message: 'Oi! Seu pedido chegou.' });

// step: delete
await recado.deleteMessage({ instanceId, messageId });

// step: mark-as-read
const { messageId: received } = await sandbox<{ messageId: string }>('phones/5511988887766/messages', {
  to: '5511999990200',
  type: 'text',
  text: 'Obrigada!',
});
for await (const event of recado.streamEvents({ instanceId, types: ['message.received'], after: 0 })) {
  console.log(event.type);
  break;
}

// step: mark-as-read-2
await recado.markRead({ instanceId, messageId: received });

// step: download-a-file
const link = await recado.getMediaDownloadLink({ instanceId, messageId: document.messageId });
console.log(link.fileName);

// step: download-a-file-2
const invoice = await (await fetch(link.url)).blob();
console.log(invoice.type);

// step: get-a-message
const thanks = await recado.getMessage({ instanceId, messageId: received });
console.log(thanks.status);

// step: list-chats
const chats = await recado.listChats({ instanceId, search: '98888-7766' });
console.log(chats.data[0]?.chat);

// step: get-a-chat
const chat = await recado.getChat({ instanceId, chatId: '5511988887766' });
console.log(chat.unreadCount);

// step: list-the-messages-of-a-chat
const documents = await recado.listChatMessages({ instanceId, chatId: '5511988887766', types: 'document', limit: 1 });
console.log(documents.data[0]?.type);

// step: search
const notes = await recado.listChatMessages({ instanceId, chatId: '5511988887766', search: 'NOTA su', limit: 1 });
console.log(notes.data[0]?.type);

// step: list-or-search-the-messages-of-all-chats
const everywhere = await recado.listMessages({ instanceId, search: 'NOTA su', fromMe: 'true', limit: 1 });
console.log(everywhere.data[0]?.type);

// step: older-messages
const history = await recado.requestHistory({ instanceId, chatId: '5511988887766', count: 20 });
console.log(history.requestId);

// step: arrange-chats
await recado.changeChat({ instanceId, chatId: '5511988887766', archived: true, mutedUntil: 'forever' });

// step: arrange-chats-2
await recado.deleteChat({ instanceId, chatId: '5511977770100' });

// step: delete-for-yourself
await recado.deleteMessageForMe({ instanceId, messageId: received });

// step: labels
const label = await recado.createLabel({ instanceId, name: 'Waiting for payment', color: 3 });
console.log(label.labelId);
const { labelId } = label;

// step: labels-2
await recado.labelChat({ instanceId, chatId: '5511988887766', labelId });

// step: labels-3
await recado.unlabelChat({ instanceId, chatId: '5511988887766', labelId });

// step: labels-4
await recado.labelMessage({ instanceId, messageId: received, labelId });

// step: labels-5
await recado.unlabelMessage({ instanceId, messageId: received, labelId });

// step: labels-6
const labels = await recado.listLabels({ instanceId });
console.log(labels.totalCount);

// step: labels-7
const one = await recado.getLabel({ instanceId, labelId });
console.log(one.name);

// step: labels-8
await recado.changeLabel({ instanceId, labelId, name: 'Paid' });

// step: labels-9
await recado.deleteLabel({ instanceId, labelId });

// step: presence
await recado.sendPresence({ instanceId, to: '5511988887766', presence: 'composing' });

// step: presence-of-contacts
await recado.subscribePresence({ instanceId, phone: '5511988887766', hours: 24 });

// step: presence-of-contacts-2
const subscription = await recado.getPresenceSubscription({ instanceId, phone: '5511988887766' });
console.log(subscription.id);

// step: presence-of-contacts-3
const subscriptions = await recado.listPresenceSubscriptions({ instanceId });
console.log(subscriptions.totalCount);

// step: presence-of-contacts-4
await recado.unsubscribePresence({ instanceId, phone: '5511988887766' });

// step: profile-picture
await recado.getProfilePicture({ instanceId, phone: '5511977770100' });

// step: profile-picture-2
await sandbox('phones/5511988887766', { profilePicture: `${files}/photo.png` }, 'PUT');

// step: profile-picture-3
await recado.getProfilePicture({ instanceId, phone: '11988887766' });

// step: contacts
await recado.nameContact({ instanceId, phone: '5511988887766', name: 'Gabriela (shop)' });

// step: contacts-2
const contact = await recado.getContact({ instanceId, phone: '5511988887766' });
console.log(contact.id);

// step: contacts-3
const contacts = await recado.listContacts({ instanceId, search: '(shop)' });
console.log(contacts.totalCount);

// step: contacts-4
await recado.findAddresses({ instanceId, addresses: ['5511988887766'] });

// step: block-and-unblock
await recado.blockContact({ instanceId, phone: '5511988887766' });

// step: block-and-unblock-2
await recado.unblockContact({ instanceId, phone: '5511988887766' });

// step: profile
const profile = await recado.getProfile({ instanceId });
console.log(profile.name);

// step: profile-2
await recado.changeProfile({ instanceId, about: 'Aberto das 8 às 18' });

// step: privacy
const privacy = await recado.getPrivacy({ instanceId });
console.log(privacy.disappearing);

// step: privacy-2
await recado.changePrivacy({ instanceId, lastSeen: 'contacts', groups: 'contacts' });

// step: block-list
await recado.putBlock({ instanceId, phone: '5511988887766' });

// step: block-list-2
const blocks = await recado.listBlocks({ instanceId });
console.log(blocks.totalCount);

// step: block-list-3
await recado.deleteBlock({ instanceId, phone: '5511988887766' });

// step: calls
const { callId } = await sandbox<{ callId: string }>('phones/5511988887766/call', { to: '5511999990200' });
for await (const event of recado.streamEvents({ instanceId, types: ['call.received'], after: 0 })) {
  console.log(event.type);
  break;
}

// step: calls-2
await recado.rejectCall({ instanceId, callId });

// step: calls-3
await recado.changeInstance({
  instanceId,
  rejectCalls: true,
  rejectCallsText: 'We can not take calls here. Please write.',
});

// step: calls-4
await recado.changeInstance({ instanceId, rejectCalls: null, rejectCallsText: null });

// step: groups
const { id: groupId } = await sandbox<{ id: string }>('groups', {
  subject: 'Clientes',
  owner: '5511988887766',
  participants: [{ number: '5511999990200' }, { number: '5511977770100' }],
});

// step: groups-2
const group = await recado.getGroup({ instanceId, groupId });
console.log(group.subject);

// step: groups-3
await recado.sendText({ instanceId, to: groupId, message: 'Bom dia a todos!' });

// step: make-a-group-and-change-it
const team = await recado.createGroup({
  instanceId,
  subject: 'Equipe',
  description: 'Quem trabalha aqui',
  participants: ['5511988887766', '11977770100', '5511988880000'],
});
console.log(team.id);

// step: make-a-group-and-change-it-2
const groups = await recado.listGroups({ instanceId, subject: 'equipe' });
console.log(groups.totalCount);

// step: make-a-group-and-change-it-3
await recado.changeGroup({
  instanceId,
  groupId: team.id,
  description: null,
  info: 'admins',
  approval: true,
  disappearing: 604800,
});

// step: make-a-group-and-change-it-4
const settings = await recado.getGroupSettings({ instanceId, groupId: team.id });
console.log(settings.info);

// step: make-a-group-and-change-it-5
await recado.changeGroupParticipants({
  instanceId,
  groupId: team.id,
  action: 'promote',
  participants: ['5511988887766', '5511966660100'],
});

// step: invite-links-and-who-waits
const invite = await recado.getGroupInvite({ instanceId, groupId: team.id });
console.log(invite.code);

// step: invite-links-and-who-waits-2
const invited = await recado.getInvitedGroup({ instanceId, invite: invite.code });
console.log(invited.subject);

// step: invite-links-and-who-waits-3
const joined = await recado.joinGroup({ instanceId, invite: invite.code });
console.log(joined.status);

// step: invite-links-and-who-waits-4
await sandbox('phones/5511966660100/join', { invite: invite.code });

// step: invite-links-and-who-waits-5
await recado.listJoinRequests({ instanceId, groupId: team.id });

// step: invite-links-and-who-waits-6
await recado.answerJoinRequests({ instanceId, groupId: team.id, action: 'approve', participants: ['5511966660100'] });

// step: invite-links-and-who-waits-7
await recado.resetGroupInvite({ instanceId, groupId: team.id });

// step: communities
const community = await recado.createCommunity({ instanceId, subject: 'Nossas lojas' });
console.log(community.id);

// step: communities-2
const communities = await recado.listCommunities({ instanceId });
console.log(communities.totalCount);

// step: communities-3
await recado.linkGroup({ instanceId, communityId: community.id, groupId: team.id });

// step: communities-4
const linked = await recado.listCommunityGroups({ instanceId, communityId: community.id });
console.log(linked.totalCount);

// step: communities-5
await recado.unlinkGroup({ instanceId, communityId: community.id, groupId: team.id });

// step: communities-6
await recado.leaveGroup({ instanceId, groupId: team.id });

// step: channels
const { invite: followed } = await sandbox<{ invite: string }>('channels', {
  owner: '5511988887766',
  name: 'Novidades da Ana',
  posts: ['Canecas novas', 'Frete grátis na sexta'],
});

// step: channels-2
const channel = await recado.getChannel({ instanceId, channelId: followed });
console.log(channel.id);

// step: channels-3
await recado.followChannel({ instanceId, channelId: channel.id });
await recado.muteChannel({ instanceId, channelId: channel.id });

// step: channels-4
const channels = await recado.listChannels({ instanceId, name: 'nov' });
console.log(channels.data[0]?.name);

// step: channels-5
await recado.listChannelPosts({ instanceId, channelId: channel.id, limit: 1 });

// step: channels-6
await recado.reactToPost({ instanceId, channelId: channel.id, messageId: '2', reaction: '👍' });

// step: channels-7
await recado.unmuteChannel({ instanceId, channelId: channel.id });
await recado.unfollowChannel({ instanceId, channelId: channel.id });

// step: channels-8
const own = await recado.createChannel({ instanceId, name: 'A loja' });
console.log(own.id);

// step: channels-9
await recado.sendText({ instanceId, to: own.id, message: 'Abrimos às 8!' });

// step: post
await recado.postStatusText({ instanceId, message: 'Aberto até as 20h hoje!', background: '#7E2AA8', font: 'bold' });

// step: post-2
await recado.postStatusText({ instanceId, message: 'Só para clientes VIP: 20% hoje', audience: ['5511988887766'] });

// step: post-3
await recado.postStatusVideo({ instanceId, video: `${files}/clip.mp4` });

// step: post-4
await recado.postStatusVoice({ instanceId, audio: `${files}/voice.ogg` });

// step: post-5
await recado.postStatusImage({ instanceId, image: `${files}/photo.png`, caption: 'Novidade' });

// step: who-sees-it
const audience = await recado.listStatusAudience({ instanceId });
console.log(audience.rule);

// step: status-posts-of-contacts
await recado.listStatusPosts({ instanceId, limit: 1 });

// step: set-the-webhook
const webhook = await recado.saveWebhookConfig({
  instanceId,
  webhookUrl: `${files}/recado`,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
});
console.log(webhook.webhookUrl);

// step: set-the-webhook-2
await recado.testWebhook({ instanceId, webhookId: webhook.id });

// step: see-your-webhook
const config = await recado.getWebhookConfig({ instanceId });
console.log(config.webhookUrl);

// step: see-what-was-delivered
await recado.sendText({ instanceId, to: '5511988887766', message: 'Chegou?' });

// step: see-what-was-delivered-2
await recado.listWebhookDeliveries({ instanceId, webhookId: webhook.id, limit: 1 });

// step: replay-events
await recado.replayWebhook({ instanceId, webhookId: webhook.id, fromSequence: 1 });

// step: resume
await recado.resumeWebhook({ instanceId, webhookId: webhook.id });

// step: remove-the-webhook
await recado.deleteWebhookConfig({ instanceId });

// step: deliver-to-several-places
const crm = await recado.createWebhook({
  instanceId,
  url: `${files}/crm`,
  events: ['message.received'],
  chats: ['direct'],
  headers: { Authorization: 'Bearer 7f3a' },
});
console.log(crm.id);

// step: deliver-to-several-places-2
await recado.changeWebhook({ instanceId, webhookId: crm.id, chats: ['direct', 'group'] });

// step: deliver-to-several-places-3
await recado.getWebhook({ instanceId, webhookId: crm.id });
const webhooks = await recado.listWebhooks({ instanceId, limit: 1 });
console.log(webhooks.totalCount);

// step: deliver-to-several-places-4
await recado.testWebhook({ instanceId, webhookId: crm.id });
await recado.listWebhookDeliveries({ instanceId, webhookId: crm.id, limit: 1 });
await recado.replayWebhook({ instanceId, webhookId: crm.id, fromSequence: 1 });
await recado.resumeWebhook({ instanceId, webhookId: crm.id });
await recado.deleteWebhook({ instanceId, webhookId: crm.id });

// step: deliver-to-several-places-5
const desk = await partner.createAccountWebhook({ url: `${files}/desk`, events: ['message.received'] });
console.log(desk.id);

// step: deliver-to-several-places-6
await partner.listAccountWebhooks({ limit: 1 });
await partner.getAccountWebhook({ webhookId: desk.id });
await partner.changeAccountWebhook({ webhookId: desk.id, isActive: false });
await partner.deleteAccountWebhook({ webhookId: desk.id });

// step: deliver-to-several-places-7
await partner.setAppSecret({ appSecret: '7f3a5c1e9b2d4f6a' });
await partner.getAppSecret();
await partner.deleteAppSecret();

// step: follow-the-stream
const types = ['message.received', 'instance.status'];
for await (const event of recado.streamEvents({ instanceId, types, after: 0 })) {
  console.log(event.type);
  break;
}

// step: send-once-even-when-you-ask-twice
const first = await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'Pedido 1234 enviado.',
  'Idempotency-Key': 'order-1234-shipped',
});
console.log(first.messageId);

// step: send-once-even-when-you-ask-twice-2
const second = await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'Pedido 1234 enviado.',
  'Idempotency-Key': 'order-1234-shipped',
});
console.log(second.messageId);

// step: send-once-even-when-you-ask-twice-3
const third = await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'Pedido 1234 enviado.',
  'Idempotency-Key': 'order-1234-shipped',
});
console.log(third.messageId);

// step: send-once-even-when-you-ask-twice-4
try {
  await recado.sendText({
    instanceId,
    to: '5511988887766',
    message: 'Pedido 5678 enviado.',
    'Idempotency-Key': 'order-1234-shipped',
  });
} catch (error) {
  if (!(error instanceof RecadoError)) throw error;
  console.log(error.code);
}

// step: call-a-message-by-your-own-word
await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'O pedido 1235 chega hoje.',
  clientData: 'order 1235',
});

// step: at-a-time
const sendAt = new Date(Date.now() + 20 * 60 * 60 * 1000).toISOString();
const queued = await recado.sendText({ instanceId, to: '5511988887766', message: 'Amanhã às 9h?', sendAt });
console.log(queued.id);

// step: see-the-queue
const queue = await recado.listQueue({ instanceId });
console.log(queue.totalCount);

// step: see-the-queue-2
const waiting = await recado.getQueuedMessage({ instanceId, messageId: queued.id });
console.log(waiting.state);

// step: cancel
await recado.cancelQueuedMessage({ instanceId, messageId: queued.id });

// step: cancel-2
await recado.cancelQueue({ instanceId });

// step: without-waiting
await recado.sendText({
  instanceId,
  to: '5511988887766',
  message: 'Recebemos seu pagamento.',
  Prefer: 'respond-async',
  'Idempotency-Key': 'order-1234-paid',
});

// step: pages
const page = await recado.listInstances({ page: 2, limit: 1 });
console.log(page.currentPage);

// step: when-it-goes-wrong
try {
  await recado.sendLocation({ instanceId, to: '5511988887766', latitude: 91, longitude: -46.6559 });
} catch (error) {
  if (!(error instanceof RecadoError)) throw error;
  console.log(error.code);
}

// step: when-it-goes-wrong-2
try {
  await recado.sendText({ instanceId, to: '5511988880000', message: 'Oi!' });
} catch (error) {
  if (!(error instanceof RecadoError)) throw error;
  console.log(error.code);
}

// step: keys
const key = await partner.createApiKey({
  name: 'website',
  instanceIds: [instanceId],
  expiresAt: '2030-01-01T00:00:00Z',
});
console.log(key.name);

// step: keys-2
const keys = await partner.listApiKeys({ page: 3, limit: 1 });
console.log(keys.totalCount);

// step: keys-3
await partner.revokeApiKey({ id: key.id });

// step: keys-4
const website = new Recado({ baseUrl: url, apiKey: key.key });
try {
  await website.listInstances();
} catch (error) {
  if (!(error instanceof RecadoError)) throw error;
  console.log(error.code);
}

// step: stop
await partner.stopInstance({ instanceId });

// step: payment
await partner.setPayment({ instanceId, pending: true });

// step: payment-2
try {
  await recado.sendText({ instanceId, to: '5511988887766', message: 'Oi!' });
} catch (error) {
  if (!(error instanceof RecadoError)) throw error;
  console.log(error.code);
}

// step: delete-an-instance
await partner.deleteInstance({ instanceId });
