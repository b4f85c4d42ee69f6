import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { createPortForm, toPortErrors, toPortInput, validatePortForm } from './portForm.ts'

test('defaults a port to private and omits an empty subdomain', () => {
  expect(toPortInput(createPortForm('3000'))).toEqual({ port: 3000, visibility: 'private' })
  expect(toPortInput({ port: ' 80 ', visibility: 'public', subdomain: ' shop ' })).toEqual({
    port: 80,
    visibility: 'public',
    subdomain: 'shop',
  })
})

test.each(['', 'http', '0', '70000', '1.5'])('rejects %j as a port', (port) => {
  expect(validatePortForm(createPortForm(port))).toEqual({ port: 'Must be a whole number from 1 to 65535.' })
})

test('reports an invalid subdomain before submission and a taken one after it', () => {
  expect(validatePortForm({ ...createPortForm('80'), subdomain: '3-shop' }).subdomain).toContain(
    'Must begin with a letter',
  )
  expect(toPortErrors(new AppError('port/taken', '`shop` is taken.'))).toEqual({ subdomain: '`shop` is taken.' })
  expect(toPortErrors(new AppError('port/too-many', 'Too many.'))).toBeUndefined()
})
