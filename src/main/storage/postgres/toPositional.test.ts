import { expect, test } from 'vitest'
import { toPositional } from './toPositional.ts'

test('numbers parameters by their first use', () => {
  expect(toPositional('UPDATE t SET a = @a, b = @b WHERE a > @a AND c = @cD')).toEqual({
    text: 'UPDATE t SET a = $1, b = $2 WHERE a > $1 AND c = $3',
    names: ['a', 'b', 'cD'],
  })
})

test('leaves strings, names, comments and operators as they are', () => {
  const text = `SELECT '@a''@b', "@c", $$ @d $$, $x$ @e $x$, x @> y, x @@ z -- @f
    /* @g */ FROM t`
  expect(toPositional(text)).toEqual({ text, names: [] })
})
