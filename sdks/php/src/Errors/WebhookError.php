<?php

declare(strict_types=1);

namespace Recado\Errors;

/** Why a delivery is refused. Answer it with 401. */
final class WebhookError extends \RuntimeException
{
}
