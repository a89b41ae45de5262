// Status posts, which are sent as messages are.

package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

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

type statusTextBody struct {
	Message    string `json:"message" minLength:"1" maxLength:"700" doc:"The text, at most 700 characters." example:"Aberto até as 20h hoje!"`
	Background string `json:"background,omitempty" pattern:"^#[0-9A-Fa-f]{6}$" default:"#075E54" doc:"The colour behind the text, as #RRGGBB." example:"#7E2AA8"`
	Font       string `json:"font,omitempty" enum:"system,script,bold,breeze,calistoga,exo,typewriter" default:"system" doc:"The font of the text." example:"bold"`

	Showing
	Schedule
}

type statusImageBody struct {
	Image   string `json:"image" minLength:"1" format:"media" doc:"The image: a base64 data URI, or an http(s) URL." example:"https://shop.example/model.jpg"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the image, at most 1,024 characters." example:"The new model"`

	Showing
	Schedule
}

type statusVideoBody struct {
	Video   string `json:"video" minLength:"1" format:"media" doc:"The video: a base64 data URI, or an http(s) URL." example:"https://shop.example/model.mp4"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the video, at most 1,024 characters." example:"The new model"`

	Showing
	Schedule
}

type statusVoiceBody struct {
	Audio string `json:"audio" minLength:"1" format:"media" doc:"The audio, ideally OGG with Opus: a base64 data URI, or an http(s) URL." example:"https://shop.example/hello.ogg"`

	Showing
	Schedule
}

// usualBackground is the colour behind a text for which none is given.
const usualBackground = "#075E54"

// postOf begins the request of a status post.
func postOf[T any](ctx context.Context, in *sendInput[T], audience []string, at *time.Time) (messaging.Request, error) {
	people, err := readPeople("audience", audience)
	if err != nil {
		return messaging.Request{}, err
	}
	request := requestTo(ctx, in, gateway.Recipient{Chat: gateway.StatusChat}, at)
	request.Audience = people
	return request, nil
}

func (s sending) statusText() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "postStatusText", Summary: "Post a text as a status",
		Description: aboutPosts,
		Codes:       []string{gateway.CodeStatusAudience},
	}, func(ctx context.Context, in *sendInput[statusTextBody]) (messaging.Result, error) {
		given := in.Given()
		background := given.Background
		if background == "" {
			background = usualBackground
		}
		colour, err := strconv.ParseUint(strings.TrimPrefix(background, "#"), 16, 32)
		if err != nil {
			return messaging.Result{}, fmt.Errorf("api: the colour was checked: %w", err)
		}
		request, err := postOf(ctx, in, given.Audience, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.use.PostStatusText(ctx, request, given.Message, gateway.StatusLook{Background: uint32(colour), Font: gateway.StatusFont(given.Font)})
	})
}

func (s sending) statusImage() contract.Endpoint {
	return handleMedia(contract.Operation{
		ID: "postStatusImage", Summary: "Post an image as a status",
		Description: aboutPosts + "Takes JPEG, PNG, WebP or GIF. An animated GIF is sent as a video that plays without end, if ffmpeg is on the gateway's machine. ",
		Codes:       []string{gateway.CodeStatusAudience},
	}, func(ctx context.Context, in *sendInput[statusImageBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := postOf(ctx, in, given.Audience, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.media(ctx, request, gateway.TypeImage, messaging.MediaParams{Field: "image", Input: given.Image, Caption: given.Caption})
	})
}

func (s sending) statusVideo() contract.Endpoint {
	return handleMedia(contract.Operation{
		ID: "postStatusVideo", Summary: "Post a video as a status",
		Description: aboutPosts,
		Codes:       []string{gateway.CodeStatusAudience},
	}, func(ctx context.Context, in *sendInput[statusVideoBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := postOf(ctx, in, given.Audience, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.media(ctx, request, gateway.TypeVideo, messaging.MediaParams{Field: "video", Input: given.Video, Caption: given.Caption})
	})
}

func (s sending) statusVoice() contract.Endpoint {
	return handleMedia(contract.Operation{
		ID: "postStatusVoice", Summary: "Post a voice note as a status",
		Description: aboutPosts,
		Codes:       []string{gateway.CodeStatusAudience},
	}, func(ctx context.Context, in *sendInput[statusVoiceBody]) (messaging.Result, error) {
		given := in.Given()
		request, err := postOf(ctx, in, given.Audience, given.SendAt)
		if err != nil {
			return messaging.Result{}, err
		}
		return s.media(ctx, request, gateway.TypeVoice, messaging.MediaParams{Field: "audio", Input: given.Audio})
	})
}
