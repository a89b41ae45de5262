<?php

declare(strict_types=1);

namespace Recado\Errors;

/** 402: the instance is not paid for. */
final class PaymentRequiredError extends RecadoError
{
}
