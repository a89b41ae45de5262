# The guide (docs/guide.md) as a program. What belongs to a step stands between its mark and the next one.
# step: before-you-start
import base64
import io
import os
import time
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx

from recado import Recado, RecadoError
from recado.types import AlbumItem, Card, DeviceChange, EventLocation, NewTemplateComponent, PasskeySignature

url = os.environ.get("RECADO_URL", "http://127.0.0.1:8080")
files = os.environ.get("FILES", f"{url}/sandbox/files")
recado = Recado()  # RECADO_URL and RECADO_API_KEY
partner = Recado(api_key=os.environ["RECADO_PARTNER_KEY"])


def sandbox(path: str, body: object, method: str = "POST") -> Any:
    """Lets simulated phones do what people would do."""
    answer = httpx.request(method, f"{url}/sandbox/api/{path}", json=body)
    answer.raise_for_status()
    return answer.json() if answer.content else None


# step: before-you-start-2
health = recado.get_health()
print(health.status)

# step: before-you-start-3
readiness = recado.get_readiness()
print(readiness.status)

# step: link-a-phone
instance_id = partner.create_instance(name="shop").instance_id

# step: by-qr-code
qr = recado.get_qr_code(instance_id=instance_id)
print(qr.code)

# step: by-qr-code-2
sandbox("phones/5511999990200/scan", {"qrCode": qr.code})

# step: by-qr-code-3
while recado.get_instance(instance_id=instance_id).status != "connected":
    time.sleep(0.2)

# step: see-your-instances
for listed in recado.instances():
    print(listed.name, listed.status)

# step: see-your-instances-2
instance = recado.get_instance(instance_id=instance_id)
print(instance.status)

# step: change-an-instance
recado.change_instance(
    instance_id=instance_id, name="shop", device=DeviceChange(name="Front desk", kind="chrome"), proxy=None
)

# step: change-an-instance-2
recado.change_instance(instance_id=instance_id, external_name="store-17")
found = recado.list_instances(external_name="store-17")
print(found.data[0].name)

# step: change-an-instance-3
recado.change_instance(instance_id=instance_id, external_name=None)

# step: what-an-instance-does-by-itself
recado.change_instance(
    instance_id=instance_id, read_messages=True, read_statuses=True, always_online=True, ignore_groups=True
)
recado.change_instance(
    instance_id=instance_id, read_messages=None, read_statuses=None, always_online=None, ignore_groups=None
)

# step: what-the-account-has-to-heed
limits = recado.get_limits(instance_id=instance_id)
print(limits.restriction.active)

# step: restart
recado.restart_instance(instance_id=instance_id)

# step: log-out
recado.logout_instance(instance_id=instance_id)

# step: by-pairing-code
pairing = recado.get_pairing_code(instance_id=instance_id, phone="5511999990200")
print(pairing.pairing_code)

# step: by-pairing-code-2
sandbox("phones/5511999990200/pairing-code", {"code": pairing.pairing_code})

# step: by-pairing-code-3
while recado.get_instance(instance_id=instance_id).status != "connected":
    time.sleep(0.2)

# step: with-a-passkey
recado.logout_instance(instance_id=instance_id)
sandbox("phones/5511999990200", {"passkey": True}, "PUT")
raw = recado.get_qr_code(instance_id=instance_id, format="raw")
sandbox("phones/5511999990200/scan", {"qrCode": raw.code})
while recado.get_passkey(instance_id=instance_id).state != "requested":
    time.sleep(0.2)

# step: with-a-passkey-2
passkey = recado.get_passkey(instance_id=instance_id)
print(passkey.state)

# step: with-a-passkey-3
signed = sandbox("phones/5511999990200/passkey/assert", {"request": passkey.request})
signature = signed["response"]
recado.answer_passkey(
    instance_id=instance_id,
    id=signed["id"],
    raw_id=signed["rawId"],
    type="public-key",
    response=PasskeySignature(
        client_data_json=signature["clientDataJSON"],
        authenticator_data=signature["authenticatorData"],
        signature=signature["signature"],
    ),
)

# step: with-a-passkey-4
while recado.get_instance(instance_id=instance_id).status != "connected":
    time.sleep(0.2)

# step: with-a-passkey-5
recado.confirm_passkey(instance_id=instance_id)

# step: check-numbers
checked = recado.check_numbers(instance_id=instance_id, numbers=["11988887766", "5511977776655", "5511988880000"])
print(checked.results[0].jid)

# step: text
sent = recado.send_text(instance_id=instance_id, to="11988887766", message="Oi! Seu pedido saiu para entrega.")
print(sent.message_id)

# step: reply
message_id = sent.message_id
recado.send_text(instance_id=instance_id, to="5511988887766", message="Chega até as 18h.", quote_message_id=message_id)

# step: reply-2
recado.send_text(
    instance_id=instance_id,
    to="5511988887766",
    message="Chega até as 19h.",
    quote_message_id=f"5511988887766@s.whatsapp.net_{message_id}",
)

# step: reply-3
recado.send_text(instance_id=instance_id, to="5511988887766", message="Chega até as 20h.", quote_message_id=sent.id)

# step: mentions
recado.send_text(
    instance_id=instance_id,
    to="5511988887766",
    message="Fala com a @5511966665544, por favor.",
    mentions=["5511966665544"],
)

# step: link-preview
recado.send_text(instance_id=instance_id, to="5511988887766", message=f"Veja {files}", link_preview=True)

# step: image
recado.send_image(instance_id=instance_id, to="5511988887766", image=f"{files}/photo.png", caption="Seu pedido")

# step: image-2
photo = httpx.get(f"{files}/photo.png").content
encoded = base64.b64encode(photo).decode()
recado.send_image(instance_id=instance_id, to="5511988887766", image=f"data:image/png;base64,{encoded}")

# step: image-3
once = recado.upload(io.BytesIO(photo), file_name="photo.png")
recado.send_image(instance_id=instance_id, to="5511988887766", image=f"upload:{once.id}", view_once=True)

# step: send-a-file-many-times
upload = recado.upload(io.BytesIO(photo), file_name="photo.png")
print(upload.id)

# step: send-a-file-many-times-2
recado.send_image(instance_id=instance_id, to="5511988887766", image=f"upload:{upload.id}")

# step: send-a-file-many-times-3
stored = recado.get_upload(upload_id=upload.id)
print(stored.file_name)

# step: send-a-file-many-times-4
uploads = recado.list_uploads(limit=10)
print(uploads.data[0].file_name)

# step: send-a-file-many-times-5
uploaded = recado.get_upload_download_link(upload_id=upload.id)
print(uploaded.url)

# step: send-a-file-many-times-6
recado.delete_upload(upload_id=upload.id)

# step: video
recado.send_video(instance_id=instance_id, to="5511988887766", video=f"{files}/clip.mp4", caption="Como montar")

# step: video-note
recado.send_video_note(instance_id=instance_id, to="5511988887766", video=f"{files}/clip.mp4")

# step: album
recado.send_album(
    instance_id=instance_id,
    to="5511988887766",
    items=[AlbumItem(image=f"{files}/photo.png", caption="Seu pedido"), AlbumItem(video=f"{files}/clip.mp4")],
)

# step: voice-note
recado.send_voice_note(instance_id=instance_id, to="5511988887766", audio=f"{files}/voice.ogg")

# step: audio-file
recado.send_audio_file(instance_id=instance_id, to="5511988887766", audio=f"{files}/tone.mp3")

# step: document
document = recado.send_document(
    instance_id=instance_id,
    to="5511988887766",
    document=f"{files}/invoice.pdf",
    file_name="Nota fiscal 1234.pdf",
    caption="Sua nota",
)

# step: sticker
recado.send_sticker(instance_id=instance_id, to="5511988887766", sticker=f"{files}/sticker.webp")

# step: location
recado.send_location(
    instance_id=instance_id,
    to="5511988887766",
    latitude=-23.5614,
    longitude=-46.6559,
    name="MASP",
    address="Av. Paulista, 1578",
)

# step: contact-card
recado.send_contact(
    instance_id=instance_id,
    to="5511988887766",
    contact=Card(full_name="Ana Souza", phone_number="5511977776655", organization="Loja Ltda."),
)

# step: polls
poll = recado.send_poll(
    instance_id=instance_id, to="5511988887766", question="Quando entregamos?", options=["Hoje", "Amanhã"]
)

# step: polls-2
votes = recado.get_votes(instance_id=instance_id, message_id=poll.message_id)
print(votes.voters)

# step: templates
recado.create_template(
    name="order_shipped",
    language="pt_BR",
    components=[NewTemplateComponent(type="BODY", text="Olá {{1}}, o pedido {{2}} saiu para entrega.")],
)

# step: templates-2
recado.send_template(
    instance_id=instance_id,
    to="5511988887766",
    name="order_shipped",
    language="pt_BR",
    body_parameters={"1": "Ana", "2": "1234"},
)

# step: templates-3
templates = recado.list_templates(name="order_shipped")
recado.delete_template(template_id=templates.data[0].id)

# step: calendar-events
appointment = recado.send_event(
    instance_id=instance_id,
    to="5511988887766",
    name="Prova da camiseta",
    start=datetime(2031, 5, 6, 13, tzinfo=timezone.utc),
    end=datetime(2031, 5, 6, 13, 30, tzinfo=timezone.utc),
    location=EventLocation(name="Nossa loja"),
)

# step: calendar-events-2
recado.cancel_event(instance_id=instance_id, message_id=appointment.message_id)

# step: react
recado.send_reaction(instance_id=instance_id, message_id=message_id, reaction="👍")

# step: pin
recado.pin_message(instance_id=instance_id, message_id=message_id, duration_seconds=604800)

# step: pin-2
recado.unpin_message(instance_id=instance_id, message_id=message_id)

# step: star
recado.star_message(instance_id=instance_id, message_id=message_id)
recado.unstar_message(instance_id=instance_id, message_id=message_id)

# step: forward
recado.forward_message(instance_id=instance_id, to="5511977770100", message_id=message_id)

# step: edit
recado.edit_message(instance_id=instance_id, message_id=message_id, message="Oi! Seu pedido chegou.")

# step: delete
recado.delete_message(instance_id=instance_id, message_id=message_id)

# step: mark-as-read
received = sandbox("phones/5511988887766/messages", {"to": "5511999990200", "type": "text", "text": "Obrigada!"})[
    "messageId"
]
for event in recado.stream_events(instance_id=instance_id, types=["message.received"], after=0):
    print(event.type)
    break

# step: mark-as-read-2
recado.mark_read(instance_id=instance_id, message_id=received)

# step: download-a-file
link = recado.get_media_download_link(instance_id=instance_id, message_id=document.message_id)
print(link.file_name)

# step: download-a-file-2
invoice = httpx.get(link.url)
print(invoice.headers["content-type"])

# step: get-a-message
thanks = recado.get_message(instance_id=instance_id, message_id=received)
print(thanks.status)

# step: list-chats
chats = recado.list_chats(instance_id=instance_id, search="98888-7766")
print(chats.data[0].chat)

# step: get-a-chat
chat = recado.get_chat(instance_id=instance_id, chat_id="5511988887766")
print(chat.unread_count)

# step: list-the-messages-of-a-chat
documents = recado.list_chat_messages(instance_id=instance_id, chat_id="5511988887766", types="document", limit=1)
print(documents.data[0].type)

# step: search
notes = recado.list_chat_messages(instance_id=instance_id, chat_id="5511988887766", search="NOTA su", limit=1)
print(notes.data[0].type)

# step: list-or-search-the-messages-of-all-chats
everywhere = recado.list_messages(instance_id=instance_id, search="NOTA su", from_me=True, limit=1)
print(everywhere.data[0].type)

# step: older-messages
history = recado.request_history(instance_id=instance_id, chat_id="5511988887766", count=20)
print(history.request_id)

# step: arrange-chats
recado.change_chat(instance_id=instance_id, chat_id="5511988887766", archived=True, muted_until="forever")

# step: arrange-chats-2
recado.delete_chat(instance_id=instance_id, chat_id="5511977770100")

# step: delete-for-yourself
recado.delete_message_for_me(instance_id=instance_id, message_id=received)

# step: labels
label = recado.create_label(instance_id=instance_id, name="Waiting for payment", color=3)
print(label.label_id)
label_id = label.label_id

# step: labels-2
recado.label_chat(instance_id=instance_id, chat_id="5511988887766", label_id=label_id)

# step: labels-3
recado.unlabel_chat(instance_id=instance_id, chat_id="5511988887766", label_id=label_id)

# step: labels-4
recado.label_message(instance_id=instance_id, message_id=received, label_id=label_id)

# step: labels-5
recado.unlabel_message(instance_id=instance_id, message_id=received, label_id=label_id)

# step: labels-6
labels = recado.list_labels(instance_id=instance_id)
print(labels.total_count)

# step: labels-7
one = recado.get_label(instance_id=instance_id, label_id=label_id)
print(one.name)

# step: labels-8
recado.change_label(instance_id=instance_id, label_id=label_id, name="Paid")

# step: labels-9
recado.delete_label(instance_id=instance_id, label_id=label_id)

# step: presence
recado.send_presence(instance_id=instance_id, to="5511988887766", presence="composing")

# step: presence-of-contacts
recado.subscribe_presence(instance_id=instance_id, phone="5511988887766", hours=24)

# step: presence-of-contacts-2
subscription = recado.get_presence_subscription(instance_id=instance_id, phone="5511988887766")
print(subscription.id)

# step: presence-of-contacts-3
subscriptions = recado.list_presence_subscriptions(instance_id=instance_id)
print(subscriptions.total_count)

# step: presence-of-contacts-4
recado.unsubscribe_presence(instance_id=instance_id, phone="5511988887766")

# step: profile-picture
recado.get_profile_picture(instance_id=instance_id, phone="5511977770100")

# step: profile-picture-2
sandbox("phones/5511988887766", {"profilePicture": f"{files}/photo.png"}, "PUT")

# step: profile-picture-3
recado.get_profile_picture(instance_id=instance_id, phone="11988887766")

# step: contacts
recado.name_contact(instance_id=instance_id, phone="5511988887766", name="Gabriela (shop)")

# step: contacts-2
contact = recado.get_contact(instance_id=instance_id, phone="5511988887766")
print(contact.id)

# step: contacts-3
contacts = recado.list_contacts(instance_id=instance_id, search="(shop)")
print(contacts.total_count)

# step: contacts-4
recado.find_addresses(instance_id=instance_id, addresses=["5511988887766"])

# step: block-and-unblock
recado.block_contact(instance_id=instance_id, phone="5511988887766")

# step: block-and-unblock-2
recado.unblock_contact(instance_id=instance_id, phone="5511988887766")

# step: profile
profile = recado.get_profile(instance_id=instance_id)
print(profile.name)

# step: profile-2
recado.change_profile(instance_id=instance_id, about="Aberto das 8 às 18")

# step: privacy
privacy = recado.get_privacy(instance_id=instance_id)
print(privacy.disappearing)

# step: privacy-2
recado.change_privacy(instance_id=instance_id, last_seen="contacts", groups="contacts")

# step: block-list
recado.put_block(instance_id=instance_id, phone="5511988887766")

# step: block-list-2
blocks = recado.list_blocks(instance_id=instance_id)
print(blocks.total_count)

# step: block-list-3
recado.delete_block(instance_id=instance_id, phone="5511988887766")

# step: calls
call_id = sandbox("phones/5511988887766/call", {"to": "5511999990200"})["callId"]
for event in recado.stream_events(instance_id=instance_id, types=["call.received"], after=0):
    print(event.type)
    break

# step: calls-2
recado.reject_call(instance_id=instance_id, call_id=call_id)

# step: calls-3
recado.change_instance(
    instance_id=instance_id, reject_calls=True, reject_calls_text="We can not take calls here. Please write."
)

# step: calls-4
recado.change_instance(instance_id=instance_id, reject_calls=None, reject_calls_text=None)

# step: groups
group_id = sandbox(
    "groups",
    {
        "subject": "Clientes",
        "owner": "5511988887766",
        "participants": [{"number": "5511999990200"}, {"number": "5511977770100"}],
    },
)["id"]

# step: groups-2
group = recado.get_group(instance_id=instance_id, group_id=group_id)
print(group.subject)

# step: groups-3
recado.send_text(instance_id=instance_id, to=group_id, message="Bom dia a todos!")

# step: make-a-group-and-change-it
team = recado.create_group(
    instance_id=instance_id,
    subject="Equipe",
    description="Quem trabalha aqui",
    participants=["5511988887766", "11977770100", "5511988880000"],
)
print(team.id)

# step: make-a-group-and-change-it-2
groups = recado.list_groups(instance_id=instance_id, subject="equipe")
print(groups.total_count)

# step: make-a-group-and-change-it-3
recado.change_group(
    instance_id=instance_id, group_id=team.id, description=None, info="admins", approval=True, disappearing=604800
)

# step: make-a-group-and-change-it-4
settings = recado.get_group_settings(instance_id=instance_id, group_id=team.id)
print(settings.info)

# step: make-a-group-and-change-it-5
recado.change_group_participants(
    instance_id=instance_id, group_id=team.id, action="promote", participants=["5511988887766", "5511966660100"]
)

# step: invite-links-and-who-waits
invite = recado.get_group_invite(instance_id=instance_id, group_id=team.id)
print(invite.code)

# step: invite-links-and-who-waits-2
invited = recado.get_invited_group(instance_id=instance_id, invite=invite.code)
print(invited.subject)

# step: invite-links-and-who-waits-3
joined = recado.join_group(instance_id=instance_id, invite=invite.code)
print(joined.status)

# step: invite-links-and-who-waits-4
sandbox("phones/5511966660100/join", {"invite": invite.code})

# step: invite-links-and-who-waits-5
recado.list_join_requests(instance_id=instance_id, group_id=team.id)

# step: invite-links-and-who-waits-6
recado.answer_join_requests(instance_id=instance_id, group_id=team.id, action="approve", participants=["5511966660100"])

# step: invite-links-and-who-waits-7
recado.reset_group_invite(instance_id=instance_id, group_id=team.id)

# step: communities
community = recado.create_community(instance_id=instance_id, subject="Nossas lojas")
print(community.id)

# step: communities-2
communities = recado.list_communities(instance_id=instance_id)
print(communities.total_count)

# step: communities-3
recado.link_group(instance_id=instance_id, community_id=community.id, group_id=team.id)

# step: communities-4
linked = recado.list_community_groups(instance_id=instance_id, community_id=community.id)
print(linked.total_count)

# step: communities-5
recado.unlink_group(instance_id=instance_id, community_id=community.id, group_id=team.id)

# step: communities-6
recado.leave_group(instance_id=instance_id, group_id=team.id)

# step: channels
followed = sandbox(
    "channels",
    {"owner": "5511988887766", "name": "Novidades da Ana", "posts": ["Canecas novas", "Frete grátis na sexta"]},
)["invite"]

# step: channels-2
channel = recado.get_channel(instance_id=instance_id, channel_id=followed)
print(channel.id)

# step: channels-3
recado.follow_channel(instance_id=instance_id, channel_id=channel.id)
recado.mute_channel(instance_id=instance_id, channel_id=channel.id)

# step: channels-4
channels = recado.list_channels(instance_id=instance_id, name="nov")
print(channels.data[0].name)

# step: channels-5
recado.list_channel_posts(instance_id=instance_id, channel_id=channel.id, limit=1)

# step: channels-6
recado.react_to_post(instance_id=instance_id, channel_id=channel.id, message_id="2", reaction="👍")

# step: channels-7
recado.unmute_channel(instance_id=instance_id, channel_id=channel.id)
recado.unfollow_channel(instance_id=instance_id, channel_id=channel.id)

# step: channels-8
own = recado.create_channel(instance_id=instance_id, name="A loja")
print(own.id)

# step: channels-9
recado.send_text(instance_id=instance_id, to=own.id, message="Abrimos às 8!")

# step: post
recado.post_status_text(instance_id=instance_id, message="Aberto até as 20h hoje!", background="#7E2AA8", font="bold")

# step: post-2
recado.post_status_text(instance_id=instance_id, message="Só para clientes VIP: 20% hoje", audience=["5511988887766"])

# step: post-3
recado.post_status_video(instance_id=instance_id, video=f"{files}/clip.mp4")

# step: post-4
recado.post_status_voice(instance_id=instance_id, audio=f"{files}/voice.ogg")

# step: post-5
recado.post_status_image(instance_id=instance_id, image=f"{files}/photo.png", caption="Novidade")

# step: who-sees-it
audience = recado.list_status_audience(instance_id=instance_id)
print(audience.rule)

# step: status-posts-of-contacts
recado.list_status_posts(instance_id=instance_id, limit=1)

# step: set-the-webhook
webhook = recado.save_webhook_config(
    instance_id=instance_id, webhook_url=f"{files}/recado", secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
)
print(webhook.webhook_url)

# step: set-the-webhook-2
recado.test_webhook(instance_id=instance_id, webhook_id=webhook.id)

# step: see-your-webhook
config = recado.get_webhook_config(instance_id=instance_id)
print(config.webhook_url)

# step: see-what-was-delivered
recado.send_text(instance_id=instance_id, to="5511988887766", message="Chegou?")

# step: see-what-was-delivered-2
recado.list_webhook_deliveries(instance_id=instance_id, webhook_id=webhook.id, limit=1)

# step: replay-events
recado.replay_webhook(instance_id=instance_id, webhook_id=webhook.id, from_sequence=1)

# step: resume
recado.resume_webhook(instance_id=instance_id, webhook_id=webhook.id)

# step: remove-the-webhook
recado.delete_webhook_config(instance_id=instance_id)

# step: deliver-to-several-places
crm = recado.create_webhook(
    instance_id=instance_id,
    url=f"{files}/crm",
    events=["message.received"],
    chats=["direct"],
    headers={"Authorization": "Bearer 7f3a"},
)
print(crm.id)

# step: deliver-to-several-places-2
recado.change_webhook(instance_id=instance_id, webhook_id=crm.id, chats=["direct", "group"])

# step: deliver-to-several-places-3
recado.get_webhook(instance_id=instance_id, webhook_id=crm.id)
webhooks = recado.list_webhooks(instance_id=instance_id, limit=1)
print(webhooks.total_count)

# step: deliver-to-several-places-4
recado.test_webhook(instance_id=instance_id, webhook_id=crm.id)
recado.list_webhook_deliveries(instance_id=instance_id, webhook_id=crm.id, limit=1)
recado.replay_webhook(instance_id=instance_id, webhook_id=crm.id, from_sequence=1)
recado.resume_webhook(instance_id=instance_id, webhook_id=crm.id)
recado.delete_webhook(instance_id=instance_id, webhook_id=crm.id)

# step: deliver-to-several-places-5
desk = partner.create_account_webhook(url=f"{files}/desk", events=["message.received"])
print(desk.id)

# step: deliver-to-several-places-6
partner.list_account_webhooks(limit=1)
partner.get_account_webhook(webhook_id=desk.id)
partner.change_account_webhook(webhook_id=desk.id, is_active=False)
partner.delete_account_webhook(webhook_id=desk.id)

# step: deliver-to-several-places-7
partner.set_app_secret(app_secret="7f3a5c1e9b2d4f6a")
partner.get_app_secret()
partner.delete_app_secret()

# step: follow-the-stream
for event in recado.stream_events(instance_id=instance_id, types=["message.received", "instance.status"], after=0):
    print(event.type)
    break

# step: send-once-even-when-you-ask-twice
first = recado.send_text(
    instance_id=instance_id, to="5511988887766", message="Pedido 1234 enviado.", idempotency_key="order-1234-shipped"
)
print(first.message_id)

# step: send-once-even-when-you-ask-twice-2
second = recado.send_text(
    instance_id=instance_id, to="5511988887766", message="Pedido 1234 enviado.", idempotency_key="order-1234-shipped"
)
print(second.message_id)

# step: send-once-even-when-you-ask-twice-3
third = recado.send_text(
    instance_id=instance_id, to="5511988887766", message="Pedido 1234 enviado.", idempotency_key="order-1234-shipped"
)
print(third.message_id)

# step: send-once-even-when-you-ask-twice-4
try:
    recado.send_text(
        instance_id=instance_id,
        to="5511988887766",
        message="Pedido 5678 enviado.",
        idempotency_key="order-1234-shipped",
    )
except RecadoError as error:
    print(error.code)

# step: call-a-message-by-your-own-word
recado.send_text(
    instance_id=instance_id, to="5511988887766", message="O pedido 1235 chega hoje.", client_data="order 1235"
)

# step: at-a-time
send_at = datetime.now(timezone.utc) + timedelta(hours=20)
queued = recado.send_text(instance_id=instance_id, to="5511988887766", message="Amanhã às 9h?", send_at=send_at)
print(queued.id)

# step: see-the-queue
queue = recado.list_queue(instance_id=instance_id)
print(queue.total_count)

# step: see-the-queue-2
waiting = recado.get_queued_message(instance_id=instance_id, message_id=queued.id)
print(waiting.state)

# step: cancel
recado.cancel_queued_message(instance_id=instance_id, message_id=queued.id)

# step: cancel-2
recado.cancel_queue(instance_id=instance_id)

# step: without-waiting
recado.send_text(
    instance_id=instance_id,
    to="5511988887766",
    message="Recebemos seu pagamento.",
    prefer="respond-async",
    idempotency_key="order-1234-paid",
)

# step: pages
page = recado.list_instances(page=2, limit=1)
print(page.current_page)

# step: when-it-goes-wrong
try:
    recado.send_location(instance_id=instance_id, to="5511988887766", latitude=91, longitude=-46.6559)
except RecadoError as error:
    print(error.code)

# step: when-it-goes-wrong-2
try:
    recado.send_text(instance_id=instance_id, to="5511988880000", message="Oi!")
except RecadoError as error:
    print(error.code)

# step: keys
key = partner.create_api_key(
    name="website", instance_ids=[instance_id], expires_at=datetime(2030, 1, 1, tzinfo=timezone.utc)
)
print(key.name)

# step: keys-2
keys = partner.list_api_keys(page=3, limit=1)
print(keys.total_count)

# step: keys-3
partner.revoke_api_key(id=key.id)

# step: keys-4
website = Recado(url, key.key)
try:
    website.list_instances()
except RecadoError as error:
    print(error.code)

# step: stop
partner.stop_instance(instance_id=instance_id)

# step: payment
partner.set_payment(instance_id=instance_id, pending=True)

# step: payment-2
try:
    recado.send_text(instance_id=instance_id, to="5511988887766", message="Oi!")
except RecadoError as error:
    print(error.code)

# step: delete-an-instance
partner.delete_instance(instance_id=instance_id)
