// Status posts, which are sent as messages are.

package api

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// aboutPosts says in each operation who sees a post.
const aboutPosts = "A status post is shown for a day to those whom the owner of the account has chosen on the phone: GET …/status/audience says who they are. " +
	"With audience it is shown to some of them only. "

// Showing is the field of the bodies of status posts that says who is shown them.
type Showing struct {
	Audience []string `json:"audience,omitempty" fingerprint:"if set" nullable:"false" maxItems:"1000" doc:"Show the post to these people alone, in any form of a recipient; 1,000 at most. All of them have to be among those who see the status posts of the account. Left out or empty: everybody of those." sample:"-"`
}

func (s Showing) addTo(request *messaging.Request) (err error) {
	request.To = gateway.Recipient{Chat: gateway.StatusChat}
	request.Audience, err = readPeople("audience", s.Audience)
	return err
}

func (Showing) refusals() []string { return []string{gateway.CodeStatusAudience} }

type statusTextBody struct {
	Message    string `json:"message" minLength:"1" maxLength:"700" doc:"The text, at most 700 characters." example:"Aberto até as 20h hoje!"`
	Background string `json:"background,omitempty" pattern:"^#[0-9A-Fa-f]{6}$" default:"#075E54" doc:"The colour behind the text, as #RRGGBB." example:"#7E2AA8"`
	Font       string `json:"font,omitempty" enum:"system,script,bold,breeze,calistoga,exo,typewriter" default:"system" doc:"The font of the text." example:"bold"`

	Showing
	Outgoing
}

type statusImageBody struct {
	Image   string `json:"image" minLength:"1" format:"media" doc:"The image: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/model.jpg"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the image, at most 1,024 characters." example:"The new model"`

	Showing
	Outgoing
}

type statusVideoBody struct {
	Video   string `json:"video" minLength:"1" format:"media" doc:"The video: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/model.mp4"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the video, at most 1,024 characters." example:"The new model"`

	Showing
	Outgoing
}

type statusVoiceBody struct {
	Audio string `json:"audio" minLength:"1" format:"media" doc:"The audio, ideally OGG with Opus: a base64 data URI, an http(s) URL, or an upload (upload:<id>)." example:"https://shop.example/hello.ogg"`

	Showing
	Outgoing
}

// usualBackground is the colour behind a text for which none is given.
const usualBackground = "#075E54"

func (s sending) statusText() contract.Endpoint {
	return sendContent(s, contract.Operation{
		ID: "postStatusText", Summary: "Post a text as a status",
		Description: aboutPosts,
	}, func(b statusTextBody) (gateway.Content, error) {
		colour, err := strconv.ParseUint(strings.TrimPrefix(cmp.Or(b.Background, usualBackground), "#"), 16, 32)
		if err != nil {
			return gateway.Content{}, fmt.Errorf("api: the colour was checked: %w", err)
		}
		return gateway.Content{
			Type: gateway.TypeText, Text: b.Message, Look: &gateway.StatusLook{Background: uint32(colour), Font: gateway.StatusFont(b.Font)},
		}, nil
	})
}

func (s sending) statusImage() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "postStatusImage", Summary: "Post an image as a status",
		Description: aboutPosts + "Takes JPEG, PNG, WebP or GIF. An animated GIF is sent as a video that plays without end, if ffmpeg is on the gateway's machine. ",
	}, gateway.TypeImage, func(b statusImageBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "image", Input: b.Image, Caption: b.Caption}
	})
}

func (s sending) statusVideo() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "postStatusVideo", Summary: "Post a video as a status",
		Description: aboutPosts,
	}, gateway.TypeVideo, func(b statusVideoBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "video", Input: b.Video, Caption: b.Caption}
	})
}

func (s sending) statusVoice() contract.Endpoint {
	return sendMedia(s, contract.Operation{
		ID: "postStatusVoice", Summary: "Post a voice note as a status",
		Description: aboutPosts,
	}, gateway.TypeVoice, func(b statusVoiceBody) messaging.MediaParams {
		return messaging.MediaParams{Field: "audio", Input: b.Audio}
	})
}
