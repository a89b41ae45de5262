// Status posts, which are sent as messages are.

package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging"
)

// aboutPosts says in each operation who sees a post.
const aboutPosts = "A status post is shown for a day to those whom the owner of the account has chosen on the phone: GET …/status/audience says who they are. "

type statusTextBody struct {
	Message    string `json:"message" minLength:"1" maxLength:"700" doc:"The text, at most 700 characters." example:"Aberto até as 20h hoje!"`
	Background string `json:"background,omitempty" pattern:"^#[0-9A-Fa-f]{6}$" default:"#075E54" doc:"The colour behind the text, as #RRGGBB." example:"#7E2AA8"`
	Font       string `json:"font,omitempty" enum:"system,script,bold,breeze,calistoga,exo,typewriter" default:"system" doc:"The font of the text." example:"bold"`

	Schedule
}

type statusImageBody struct {
	Image   string `json:"image" minLength:"1" format:"media" doc:"The image: a base64 data URI, or an http(s) URL." example:"https://shop.example/model.jpg"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the image, at most 1,024 characters." example:"The new model"`

	Schedule
}

type statusVideoBody struct {
	Video   string `json:"video" minLength:"1" format:"media" doc:"The video: a base64 data URI, or an http(s) URL." example:"https://shop.example/model.mp4"`
	Caption string `json:"caption,omitempty" maxLength:"1024" doc:"Text below the video, at most 1,024 characters." example:"The new model"`

	Schedule
}

type statusVoiceBody struct {
	Audio string `json:"audio" minLength:"1" format:"media" doc:"The audio, ideally OGG with Opus: a base64 data URI, or an http(s) URL." example:"https://shop.example/hello.ogg"`

	Schedule
}

// usualBackground is the colour behind a text for which none is given.
const usualBackground = "#075E54"

func (s sending) statusText() contract.Endpoint {
	return handleSend(contract.Operation{
		ID: "postStatusText", Summary: "Post a text as a status",
		Description: aboutPosts,
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
		request := requestTo(ctx, in, gateway.Recipient{Chat: gateway.StatusChat}, given.SendAt)
		return s.use.PostStatusText(ctx, request, given.Message, gateway.StatusLook{Background: uint32(colour), Font: gateway.StatusFont(given.Font)})
	})
}

func (s sending) statusImage() contract.Endpoint {
	return handleMedia(contract.Operation{
		ID: "postStatusImage", Summary: "Post an image as a status",
		Description: aboutPosts + "Takes JPEG, PNG, WebP, or GIF, which is sent as a still image. ",
	}, func(ctx context.Context, in *sendInput[statusImageBody]) (messaging.Result, error) {
		given := in.Given()
		request := requestTo(ctx, in, gateway.Recipient{Chat: gateway.StatusChat}, given.SendAt)
		return s.media(ctx, request, gateway.TypeImage, messaging.MediaParams{Field: "image", Input: given.Image, Caption: given.Caption})
	})
}

func (s sending) statusVideo() contract.Endpoint {
	return handleMedia(contract.Operation{
		ID: "postStatusVideo", Summary: "Post a video as a status",
		Description: aboutPosts,
	}, func(ctx context.Context, in *sendInput[statusVideoBody]) (messaging.Result, error) {
		given := in.Given()
		request := requestTo(ctx, in, gateway.Recipient{Chat: gateway.StatusChat}, given.SendAt)
		return s.media(ctx, request, gateway.TypeVideo, messaging.MediaParams{Field: "video", Input: given.Video, Caption: given.Caption})
	})
}

func (s sending) statusVoice() contract.Endpoint {
	return handleMedia(contract.Operation{
		ID: "postStatusVoice", Summary: "Post a voice note as a status",
		Description: aboutPosts,
	}, func(ctx context.Context, in *sendInput[statusVoiceBody]) (messaging.Result, error) {
		given := in.Given()
		request := requestTo(ctx, in, gateway.Recipient{Chat: gateway.StatusChat}, given.SendAt)
		return s.media(ctx, request, gateway.TypeVoice, messaging.MediaParams{Field: "audio", Input: given.Audio})
	})
}
