// Sends a poll, and prints how it stands whenever somebody votes, until Ctrl-C.
//
//	go run ./examples/poll 5511988887766 'Quando entregamos?' Hoje Amanhã
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/recado-project/recado/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) < 4 {
		return errors.New("usage: poll TO QUESTION OPTION OPTION [OPTION …]")
	}
	gateway := client.New(os.Getenv("RECADO_URL"), os.Getenv("RECADO_API_KEY"))
	instances, err := gateway.ListInstances(ctx, client.ListInstancesParams{}, 1, 1)
	if err != nil {
		return err
	}
	instanceID := instances.Data[0].InstanceID
	sent, err := gateway.SendPoll(ctx, instanceID, client.Poll{To: arguments[0], Question: arguments[1], Options: arguments[2:]})
	if err != nil {
		return err
	}
	fmt.Println("sent:", sent.MessageID)
	for event, err := range gateway.Follow(ctx, instanceID, client.FollowOptions{Types: []string{client.TypeMessagePollVote}}) {
		if err != nil {
			return err
		}
		data, err := event.Decode()
		if err != nil {
			return err
		}
		// Each vote says how the whole poll stands, so a vote from before the stream began is counted as well.
		if vote, ok := data.(client.MessagePollVoteEvent); ok && vote.MessageID == sent.MessageID {
			for _, tally := range vote.Tallies {
				fmt.Printf("%s: %d  ", tally.Option, tally.Votes)
			}
			fmt.Println()
		}
	}
	return nil
}
