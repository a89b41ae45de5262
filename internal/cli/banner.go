package cli

import (
	"github.com/recado-project/recado/internal/server"
)

// banner tells what the user needs, and three things to try, in lines that a
// window of 80 columns shows whole.
func (c devCommand) banner(t terminal, base string, demo server.Demo) {
	t.printf("\nRecado is ready. Everything runs on this machine; no message leaves it.\n\n")
	t.printf("  API           %s/api   (reference: /docs)\n", base)
	t.printf("  Sandbox       %s/sandbox/api\n", base)
	t.printf("  API key       %s\n", demo.APIKey)
	t.printf("  Partner key   %s\n", demo.PartnerKey)
	if demo.InstanceID != "" {
		t.printf("  Instance      %s\n", demo.InstanceID)
		t.printf("                (demo, linked to the phone %s)\n", server.DemoNumber)
	}
	t.printf("  Data          %s\n", c.Data)
	t.printf("                (kept between starts; delete it to start anew)\n\n")
	if demo.InstanceID == "" {
		t.printf("No instance was created. Create one, in another terminal:\n\n")
		t.exports(base, demo.PartnerKey)
		t.printf("recado instances create shop\n\n")
		return
	}
	t.printf("Send a message, from another terminal:\n\n")
	t.printf("curl -s -H 'content-type: application/json' \\\n")
	t.printf("  -H 'x-api-key: %s' \\\n", demo.APIKey)
	t.printf("  -d '{\"to\":\"%s\",\"message\":\"Oi!\"}' \\\n", server.DemoRecipient)
	t.printf("  %s/api/message/%s/text\n\n", base, demo.InstanceID)
	t.printf("See it on the phone that got it:\n\n")
	t.printf("curl -s %s/sandbox/api/phones/%s/messages\n\n", base, server.DemoRecipient)
	t.printf("Watch the messages, from the first one on (Ctrl-C ends it):\n\n")
	t.printf("curl -sNG -H 'Last-Event-ID: 0' \\\n")
	t.printf("  -H 'x-api-key: %s' \\\n", demo.APIKey)
	t.printf("  -d types=message.received,message.sent,message.status \\\n")
	t.printf("%s/api/instances/%s/events\n\n", base, demo.InstanceID)
	t.printf("The same without curl:\n\n")
	t.exports(base, demo.APIKey)
	t.printf("recado send text --instance demo --to %s 'Oi!'\n", server.DemoRecipient)
	t.printf("recado events --instance demo --after 0\n\n")
	t.printf("Ctrl-C stops.\n")
}

// exports prints what tells the other commands where the gateway is.
func (t terminal) exports(base, key string) {
	t.printf("export RECADO_URL=%s\n", base)
	t.printf("export RECADO_API_KEY=%s\n", key)
}
