<?php

declare(strict_types=1);

namespace Recado\Tests;

/** A program that a test has started. It ends with the test, which lets go of it. */
final class Started
{
    /** @var resource */
    private $process;

    /** @var array<int, resource> */
    private array $pipes = [];

    /**
     * @param list<string>          $command
     * @param array<string, string> $variables of its environment, beside the test's
     * @param int                   $output    the file descriptor that is read
     */
    public function __construct(array $command, array $variables = [], private int $output = 1)
    {
        $streams = [0 => ['pipe', 'r'], 1 => ['file', '/dev/null', 'w'], 2 => STDERR];
        $streams[$output] = ['pipe', 'w'];
        $process = proc_open($command, $streams, $this->pipes, null, $variables + getenv());
        $this->process = $process ?: throw new \RuntimeException('it does not start: ' . implode(' ', $command));
    }

    public function __destruct()
    {
        proc_terminate($this->process);
        proc_close($this->process);
    }

    /** Starts a server that gives answers, in turn; the last one again and again. It prints its address, and requests. */
    public static function server(string ...$answers): self
    {
        return new self([PHP_BINARY, __DIR__ . '/server.php', ...$answers]);
    }

    /** Starts a listener before the gateway, which breaks connections for each line that it reads. It prints its address. */
    public static function cable(): self
    {
        return new self([PHP_BINARY, __DIR__ . '/cable.php', Gateway::of('baseUrl')]);
    }

    /** Reads a line that it prints. */
    public function line(): string
    {
        $line = fgets($this->pipes[$this->output]);
        return $line === false ? throw new \RuntimeException('it has ended') : rtrim($line, "\n");
    }

    /**
     * Reads the next request that a server has got.
     *
     * @return array{target: string, headers: array<string, string>, body: string}
     */
    public function request(): array
    {
        return json_decode((string) base64_decode($this->line(), true), true, 512, JSON_THROW_ON_ERROR);
    }

    /** Writes a line, which it reads. */
    public function tell(string $line): void
    {
        fwrite($this->pipes[0], "$line\n");
    }
}
