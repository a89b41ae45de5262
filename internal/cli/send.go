package cli

import (
	"context"

	"github.com/recado-project/recado/client"
)

// sendCommand sends one message through a running gateway, and prints what names
// it.
type sendCommand struct {
	Text     sendTextCommand     `cmd:"" help:"Send a text."`
	Image    sendImageCommand    `cmd:"" help:"Send an image."`
	Video    sendVideoCommand    `cmd:"" help:"Send a video."`
	Voice    sendVoiceCommand    `cmd:"" help:"Send audio as a recorded voice message."`
	Audio    sendAudioCommand    `cmd:"" help:"Send audio as a playable attachment."`
	Document sendDocumentCommand `cmd:"" help:"Send a file of any kind."`
	Location sendLocationCommand `cmd:"" help:"Send a place."`
	Contact  sendContactCommand  `cmd:"" help:"Send a contact card."`
	Sticker  sendStickerCommand  `cmd:"" help:"Send a WebP picture as a sticker."`
}

// sendFlags say through which instance a message goes, and to whom.
type sendFlags struct {
	gatewayFlags
	Instance       string `help:"Id of the instance that sends." required:""`
	To             string `help:"Phone number with country code, or chat ID." required:"" env:"-"`
	IdempotencyKey string `help:"Key of your choosing that makes it safe to repeat the command: a repeat sends nothing." name:"idempotency-key" env:"-"`
}

// quoteFlag makes a message an answer.
type quoteFlag struct {
	Quote string `help:"Message to reply to." env:"-"`
}

type captionFlag struct {
	Caption string `help:"Text below it." env:"-"`
}

type viewOnceFlag struct {
	ViewOnce bool `help:"The recipient can open it only once." env:"-"`
}

// printSent prints what names the message that was sent.
func printSent(t terminal, sent client.Sent, err error) error {
	if err != nil {
		return err
	}
	t.printf("id         %s\nmessageId  %s\n", sent.ID, sent.MessageID)
	if sent.Replayed {
		t.printf("It was sent before, with the same key: nothing was sent now.\n")
	}
	return nil
}

type sendTextCommand struct {
	sendFlags
	quoteFlag
	Message string `arg:"" help:"The text."`
}

// Run sends the text.
func (c sendTextCommand) Run(ctx context.Context, t terminal) error {
	sent, err := c.client().SendText(ctx, c.Instance, client.Text{
		To: c.To, Message: c.Message, QuoteMessageID: c.Quote, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

type sendLocationCommand struct {
	sendFlags
	Latitude  float64 `help:"Degrees north, as -23.56." required:"" env:"-"`
	Longitude float64 `help:"Degrees east, as -46.65." required:"" env:"-"`
	Name      string  `help:"What the place is called." env:"-"`
	Address   string  `help:"Where it is, for people." env:"-"`
}

// Run sends the place.
func (c sendLocationCommand) Run(ctx context.Context, t terminal) error {
	sent, err := c.client().SendLocation(ctx, c.Instance, client.Location{
		To: c.To, Latitude: c.Latitude, Longitude: c.Longitude, Name: c.Name, Address: c.Address, IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

type sendContactCommand struct {
	sendFlags
	Name         string `help:"Full name of the contact." required:"" env:"-"`
	Phone        string `help:"Number of the contact, with country code." required:"" env:"-"`
	Organization string `help:"Where the contact works." env:"-"`
}

// Run sends the card.
func (c sendContactCommand) Run(ctx context.Context, t terminal) error {
	sent, err := c.client().SendContact(ctx, c.Instance, client.Contact{
		To: c.To, Contact: client.Card{FullName: c.Name, PhoneNumber: c.Phone, Organization: c.Organization},
		IdempotencyKey: c.IdempotencyKey,
	})
	return printSent(t, sent, err)
}

// client is connect for commands that name their instance by its id.
func (f gatewayFlags) client() *client.Client { return client.New(f.URL, f.APIKey) }
