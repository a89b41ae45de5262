package cli

import (
	"errors"

	"github.com/recado-project/recado/internal/api"
)

// limitFlags bound what clients may ask for.
type limitFlags struct {
	MaxBodies         int64 `help:"How many bytes of request bodies are held at a time, in memory and in temporary files; requests beyond that are answered 503. An account may use three quarters of it, and an API key three quarters of that." default:"268435456"`
	MaxRequests       int   `help:"How many requests may be in progress at a time, beside event streams; shared in the same way. 0: any number." default:"2000"`
	MaxMediaMemory    int64 `help:"How many bytes of memory large pictures and conversions of media may take together, ffmpeg's included; an account may use three quarters of it. What would take more is sent without a thumbnail, or refused." default:"503316480" name:"max-media-memory"`
	RateLimitKey      int   `help:"How many requests a minute an API key may make; as many may come at once. 0: any number." reload:""`
	RateLimitInstance int   `help:"How many requests a minute may be made about one instance. 0: any number." reload:""`
	MaxStreams        int   `help:"How many event streams an API key may have open, and how many live pages of the dashboard a user. 0: any number." default:"100" reload:""`
	MaxInstances      int   `help:"How many instances an account may have. 0: any number." reload:""`
}

func (f limitFlags) limits() (api.Limits, error) {
	if f.MaxBodies < 0 || f.MaxRequests < 0 || f.MaxMediaMemory < 0 || f.RateLimitKey < 0 || f.RateLimitInstance < 0 || f.MaxStreams < 0 || f.MaxInstances < 0 {
		return api.Limits{}, errors.New("a limit must not be less than 0")
	}
	limits := api.Limits{
		Bodies: f.MaxBodies, Requests: f.MaxRequests, PerKey: f.RateLimitKey, PerInstance: f.RateLimitInstance,
		Streams: f.MaxStreams, Instances: f.MaxInstances,
	}
	if limits.Requests == 0 {
		limits.Requests = -1
	}
	if limits.Streams == 0 {
		limits.Streams = -1
	}
	return limits, nil
}
