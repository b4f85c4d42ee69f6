import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { emptyImageForm, listSourceKinds, toImageErrors, toImageInput, validateImageInput } from './imageForm.ts'
import { omitImage, withImage } from './imageList.ts'

test('only what its kind of source needs is sent', () => {
  const form = { ...emptyImageForm, name: ' tools ', packages: 'jq, curl  git', path: '/x.tar', reference: 'y' }
  expect(toImageInput(form)).toEqual({ name: 'tools', source: { kind: 'system', packages: ['jq', 'curl', 'git'] } })
  expect(toImageInput({ ...form, kind: 'archive' }).source).toEqual({ kind: 'archive', path: '/x.tar' })
  expect(toImageInput({ ...form, kind: 'registry' }).source).toEqual({ kind: 'registry', reference: 'y' })
})

test('finds what the service would refuse, field by field', () => {
  const errors = (part: Partial<typeof emptyImageForm>) =>
    validateImageInput(toImageInput({ ...emptyImageForm, ...part }))
  expect(errors({ name: 'tools' })).toEqual({})
  expect(errors({ name: 'My Tools' }).name).toContain('Must begin with a lower-case letter')
  expect(errors({ name: 'a', packages: 'JQ;rm' })).toEqual({ packages: 'Must be names of packages.' })
  expect(errors({ name: 'a', kind: 'archive', path: 'x.tar' })).toEqual({
    path: 'Must be an absolute path of this machine.',
  })
  expect(errors({ name: 'a', kind: 'registry' }).reference).toContain('Must be an image reference')
})

test('a refusal stands at the field that it is about', () => {
  expect(toImageErrors(new AppError('image/exists', 'There is one.'), 'system')).toEqual({ name: 'There is one.' })
  const unread = new AppError('image/source', 'It cannot be read.')
  expect(toImageErrors(unread, 'archive')).toEqual({ path: 'It cannot be read.' })
  expect(toImageErrors(new AppError('file/no-space', 'Full.'), 'archive')).toBeUndefined()
})

test('sources are those of the runtimes that work', () => {
  const report = (available: boolean, image_sources: string[]) => ({ available, image_sources }) as never
  expect([...listSourceKinds([report(true, ['system']), report(false, ['registry'])])]).toEqual(['system'])
})

test('a list of images stays in the order of their names', () => {
  const image = (name: string, status = 'ready') => ({ name, status }) as never
  const list = withImage(withImage([image('b')], image('a')), image('b', 'failed'))
  expect(list).toEqual([image('a'), image('b', 'failed')])
  expect(omitImage(list, 'a')).toEqual([image('b', 'failed')])
})
