<?php

declare(strict_types=1);

namespace Recado\Errors;

/** The gateway's answer to a request that it refused. */
class RecadoError extends \RuntimeException
{
    /**
     * @internal
     *
     * @param int              $statusCode The HTTP status.
     * @param string           $errorCode  What is wrong, for programs, such as INSTANCE_NOT_CONNECTED, one of
     *                                     Recado\Values\Code; empty if the answer is not the gateway's.
     * @param list<FieldError> $details    Each field of the request that is not valid.
     * @param string           $path       The path of the request.
     * @param int|null         $retryAfter After how many seconds the request may be repeated; null if the gateway does
     *                                     not say.
     * @param string|null      $requestId  The identifier of the request in the gateway's log; null if the answer is not
     *                                     the gateway's.
     */
    final public function __construct(
        public readonly int $statusCode,
        public readonly string $errorCode,
        string $says,
        public readonly array $details,
        public readonly string $path,
        public readonly ?int $retryAfter,
        public readonly ?string $requestId,
    ) {
        parent::__construct(rtrim("$statusCode $errorCode") . ($says === '' ? '' : ": $says"), $statusCode);
    }

    /**
     * Makes the error of an answer.
     *
     * @internal
     *
     * @param array<string, string> $headers by their names in small letters
     */
    public static function of(int $status, string $reason, array $headers, string $body, string $path): self
    {
        $said = json_decode($body, true);
        $text = static fn (mixed $of, string $name): string
            => is_array($of) && is_string($of[$name] ?? null) ? $of[$name] : '';
        $details = is_array($said) && is_array($said['details'] ?? null) ? $said['details'] : [];
        $class = match (true) {
            $status === 400 => ValidationError::class,
            $status === 401 => UnauthorizedError::class,
            $status === 402 => PaymentRequiredError::class,
            $status === 403 => ForbiddenError::class,
            $status === 404 => NotFoundError::class,
            $status === 409 => ConflictError::class,
            $status === 429 => RateLimitedError::class,
            $status >= 500 => UnavailableError::class,
            default => self::class,
        };
        return new $class(
            $status,
            $text($said, 'error'),
            $text($said, 'message') ?: $reason,
            array_map(
                static fn (mixed $one): FieldError => new FieldError($text($one, 'field'), $text($one, 'message')),
                array_values($details),
            ),
            $path,
            self::seconds($headers['retry-after'] ?? ''),
            ($headers['x-request-id'] ?? '') ?: null,
        );
    }

    /**
     * Whether the same request may get another answer later.
     *
     * @internal
     */
    public static function passes(int $status, ?int $retryAfter): bool
    {
        return $status >= 500 || $status === 408 || $status === 429 || ($status === 409 && $retryAfter !== null);
    }

    /**
     * The seconds of Retry-After.
     *
     * @internal
     */
    public static function seconds(string $retryAfter): ?int
    {
        return ctype_digit($retryAfter) ? (int) $retryAfter : null;
    }
}
