// The limits of the API itself, and the operation that shows those of an instance.

package api

import (
	"cmp"
	"context"
	"time"

	"github.com/recado-project/recado/internal/api/contract"
	"github.com/recado-project/recado/internal/gateway"
	"github.com/recado-project/recado/internal/messaging/queue"
	"github.com/recado-project/recado/internal/share"
)

// Limits bound what clients may ask for, beside the size of single requests.
type Limits struct {
	// Bodies bounds the bytes of all request bodies that are held at a time, in
	// memory and in temporary files; 0 means 256 MiB, and it is never less than two of
	// the largest bodies.
	Bodies int64
	// Requests is how many requests may be in progress, without streams; 0 means 2000,
	// less than 0 any number.
	Requests int
	// PerKey and PerInstance are how many requests a minute a key may make, and how
	// many may be made about an instance; as many may come at once. 0: any number.
	PerKey, PerInstance int
	// Streams is how many event streams a key may have open, and how many live pages a
	// user; 0 means 100, less than 0 any number.
	Streams int
	// Instances is how many instances an account may have; 0: any number.
	Instances int
}

// The usual Limits, and how many streams and live pages there may be in all.
const (
	defaultMaxRequests = 2000
	defaultMaxStreams  = 100
	maxAllStreams      = 2000
	// streamsRetry is when another stream has probably ended.
	streamsRetry = 5 * time.Second
)

// newRequestPool has the places of requests that are in progress.
func newRequestPool(limits Limits) *share.Pool {
	return share.New(share.Config{
		Name: "requests", Total: max(int64(cmp.Or(limits.Requests, defaultMaxRequests)), 0),
		What: "requests in progress", Advice: "wait until some of them are answered",
	})
}

// newStreamPool has the places of event streams and live pages. limits is asked for each.
func newStreamPool(limits func() Limits) *share.Pool {
	return share.New(share.Config{
		Name: "streams", Total: maxAllStreams, RetryAfter: streamsRetry,
		Each: func() int64 { return int64(cmp.Or(limits().Streams, defaultMaxStreams)) },
		What: "open streams", Advice: "close one of them",
	})
}

// Budgets say how much of an instance's budgets is used.
type Budgets interface {
	NumberChecks(ctx context.Context, instanceID string) (gateway.Spent, error)
}

// Answers say who has answered an instance.
type Answers interface {
	Unanswered(ctx context.Context, instanceID string) (gateway.Unanswered, error)
}

// InstanceLimits are what an instance has to heed when it writes, and what it has used up.
type InstanceLimits struct {
	Restriction  Restriction `json:"restriction" doc:"Whether the platform lets the account write to new contacts."`
	Pace         PaceUse     `json:"pace" doc:"Messages that were sent, and that wait."`
	NewChats     BudgetUse   `json:"newChats" doc:"Chats that were begun; they are counted while pace.newChatsPerHour or newChatsPerDay is set."`
	NumberChecks BudgetUse   `json:"numberChecks" doc:"Numbers that the platform was asked about by check-numbers."`
	Unanswered   Unanswered  `json:"unanswered" doc:"People who were written to and have not answered."`
}

// Restriction is the platform's refusal of messages that begin a chat.
type Restriction struct {
	Active bool                `json:"active" doc:"Whether messages that begin a chat are refused."`
	Since  *contract.Timestamp `json:"since" nullable:"true" doc:"When the platform first said so; null if it is not active."`
	Until  *contract.Timestamp `json:"until" nullable:"true" doc:"When the next one is tried: at the end that the platform has told, or else an hour after it has last said so; null if it is not active."`
}

// PaceUse is how much of a pace is used.
type PaceUse struct {
	Waiting        int  `json:"waiting" doc:"Messages in the queue." example:"3"`
	SentLastMinute int  `json:"sentLastMinute" doc:"Messages through the queue and without it; no more than 600 are counted." example:"8"`
	PerMinute      *int `json:"perMinute" nullable:"true" doc:"How many may leave the queue within any minute; null: any number." example:"10"`
}

// BudgetUse is how much of a budget is used.
type BudgetUse struct {
	LastHour int  `json:"lastHour" example:"12"`
	LastDay  int  `json:"lastDay" example:"340"`
	PerHour  *int `json:"perHour" nullable:"true" doc:"How many are permitted within any hour; null: any number." example:"100"`
	PerDay   *int `json:"perDay" nullable:"true" doc:"How many are permitted within any day; null: any number." example:"500"`
}

// Unanswered is about people alone: groups do not count.
type Unanswered struct {
	Days     int `json:"days" doc:"The days that are looked at, up to now." example:"7"`
	Messages int `json:"messages" doc:"Messages to people who have not written since the first of them." example:"31"`
	Chats    int `json:"chats" doc:"How many people that are." example:"24"`
	OfChats  int `json:"ofChats" doc:"How many people were written to." example:"180"`
}

// instanceLimits is the resource of an instance's limits.
type instanceLimits struct {
	budgets Budgets
	queue   *queue.Queue
	answers Answers
	now     func() time.Time
}

func (l instanceLimits) get() contract.Endpoint {
	return contract.Handle(contract.Operation{
		ID: "getLimits", Tag: tagInstances,
		Summary: "Get the limits of an instance",
		Description: "Returns what the account has to heed when it writes, and how much of its budgets is used. " +
			"Messages without an answer are counted when this is called, from those that are kept.",
	}, func(ctx context.Context, _ *contract.InstancePath) (InstanceLimits, error) {
		instance := contract.Instance(ctx)
		checks, err := l.budgets.NumberChecks(ctx, instance.ID)
		if err != nil {
			return InstanceLimits{}, err
		}
		silent, err := l.answers.Unanswered(ctx, instance.ID)
		if err != nil {
			return InstanceLimits{}, err
		}
		used, err := l.queue.Usage(ctx, instance.ID)
		if err != nil {
			return InstanceLimits{}, err
		}
		pace := instance.Sending.Pace
		shown := InstanceLimits{
			Pace: PaceUse{Waiting: used.Waiting, SentLastMinute: used.SentLastMinute, PerMinute: countOrNil(pace.PerMinute)},
			NewChats: BudgetUse{
				LastHour: used.NewChatsLastHour, LastDay: used.NewChatsLastDay,
				PerHour: countOrNil(pace.NewChats.PerHour), PerDay: countOrNil(pace.NewChats.PerDay),
			},
			NumberChecks: BudgetUse{
				LastHour: checks.LastHour, LastDay: checks.LastDay,
				PerHour: countOrNil(instance.Sending.NumberChecks.PerHour), PerDay: countOrNil(instance.Sending.NumberChecks.PerDay),
			},
			Unanswered: Unanswered(silent),
		}
		if until, active := instance.Restricted.Active(l.now()); active {
			shown.Restriction = Restriction{
				Active: true, Since: contract.TimestampOrNil(instance.Restricted.Since), Until: contract.TimestampOrNil(until),
			}
		}
		return shown, nil
	})
}

// countOrNil is the value of a field that is null for no limit.
func countOrNil(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}
