// Command alerts tries alert rules out, with the rules engine of Prometheus itself: it is
// told what scrapes have found over some hours, and says which alerts fire at the end. It
// also says which metrics expressions use. Tests call it; it is a module of its own because
// Prometheus needs hundreds of others.
//
// It reads a request as JSON from its standard input, and writes an answer.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/rules"
	"github.com/prometheus/prometheus/tsdb"
)

// step lies between two scrapes, and between two looks at the rules.
const step = 30 * time.Second

// request is what is to be found out.
type request struct {
	Rules       string            `json:"rules"` // a file of rules, its content
	Cases       map[string][]page `json:"cases"`
	Expressions []string          `json:"expressions"`
}

// page is what every scrape finds for some time; an empty one means that nobody answers.
type page struct {
	Content string `json:"content"`
	Minutes int    `json:"minutes"`
	Gone    bool   `json:"gone"` // there is nobody to ask
}

// answer is what was found out.
type answer struct {
	Rules  []rule             `json:"rules"`
	Firing map[string][]alert `json:"firing"` // at the end of each case
	// Metrics are those that each expression uses; the expressions of the rules are among them.
	Metrics map[string][]string `json:"metrics"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

type alert struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func main() {
	if err := run(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "alerts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, in io.Reader, out io.Writer) error {
	var asked request
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	language := parser.NewParser(parser.Options{})
	said := answer{Firing: map[string][]alert{}, Metrics: map[string][]string{}}
	groups, failures := rulefmt.Parse([]byte(asked.Rules), false, model.UTF8Validation, language, slog.Default())
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	var all []rulefmt.Rule
	for _, group := range groups.Groups {
		for _, one := range group.Rules {
			all = append(all, one)
			said.Rules = append(said.Rules, rule{Alert: one.Alert, Expr: one.Expr, Labels: one.Labels, Annotations: one.Annotations})
			asked.Expressions = append(asked.Expressions, one.Expr)
		}
	}
	for _, expression := range asked.Expressions {
		names, err := metricsOf(language, expression)
		if err != nil {
			return fmt.Errorf("read %q: %w", expression, err)
		}
		said.Metrics[expression] = names
	}
	for name, pages := range asked.Cases {
		firing, err := try(ctx, language, all, pages)
		if err != nil {
			return fmt.Errorf("try %s: %w", name, err)
		}
		said.Firing[name] = firing
	}
	return json.NewEncoder(out).Encode(said)
}

// metricsOf returns the names of the metrics that an expression reads.
func metricsOf(language parser.Parser, expression string) ([]string, error) {
	parsed, err := language.ParseExpr(expression)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			names[selector.Name] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(names)), nil
}

// try scrapes the pages one after another, and returns the alerts that fire at the end.
func try(ctx context.Context, language parser.Parser, all []rulefmt.Rule, pages []page) (_ []alert, err error) {
	folder, err := os.MkdirTemp("", "recado-alerts-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	quiet := slog.New(slog.DiscardHandler)
	db, err := tsdb.Open(folder, quiet, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	engine := promql.NewEngine(promql.EngineOpts{Logger: quiet, MaxSamples: 50_000_000, Timeout: time.Minute, Parser: language})
	defer func() { err = errors.Join(err, engine.Close()) }()
	query := rules.EngineQueryFunc(engine, db)
	tried := make([]*rules.AlertingRule, 0, len(all))
	for _, one := range all {
		parsed, err := language.ParseExpr(one.Expr)
		if err != nil {
			return nil, err
		}
		tried = append(tried, rules.NewAlertingRule(one.Alert, parsed, time.Duration(one.For), time.Duration(one.KeepFiringFor),
			labels.FromMap(one.Labels), labels.FromMap(one.Annotations), labels.EmptyLabels(), "", true, quiet))
	}
	now := time.Unix(1_795_000_000, 0)
	for _, one := range pages {
		for range time.Duration(one.Minutes) * time.Minute / step {
			now = now.Add(step)
			if !one.Gone {
				if err := scrape(ctx, db, one.Content, now); err != nil {
					return nil, err
				}
			}
			for _, each := range tried {
				if _, err := each.Eval(ctx, 0, now, query, nil, 0); err != nil {
					return nil, fmt.Errorf("%s: %w", each.Name(), err)
				}
			}
		}
	}
	var firing []alert
	for _, each := range tried {
		for _, active := range each.ActiveAlerts() {
			if active.State == rules.StateFiring {
				firing = append(firing, alert{Name: each.Name(), Labels: active.Labels.Map(), Annotations: active.Annotations.Map()})
			}
		}
	}
	return firing, nil
}

// scrape stores what a page says, with the labels that Prometheus adds.
func scrape(ctx context.Context, db *tsdb.DB, content string, at time.Time) error {
	appender := db.Appender(ctx)
	add := func(series labels.Labels, value float64) error {
		named := labels.NewBuilder(series).Set("job", "recado").Set("instance", "node-1:9090").Labels()
		_, err := appender.Append(0, named, at.UnixMilli(), value)
		return err
	}
	up := 1.0
	if content == "" {
		up = 0
	}
	if err := add(labels.FromStrings(labels.MetricName, "up"), up); err != nil {
		return err
	}
	found := textparse.NewPromParser([]byte(content), labels.NewSymbolTable(), false)
	for content != "" {
		entry, err := found.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		found.Labels(&series)
		_, _, value := found.Series()
		if err := add(series, value); err != nil {
			return err
		}
	}
	return appender.Commit()
}
