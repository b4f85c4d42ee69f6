import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { joinClassNames } from './classNames.ts'
import { IconButton } from './IconButton.tsx'
import { useLayers } from './Layers.tsx'
import { useTouchedForm } from './unsaved/useUnsaved.ts'
import { useFocusReturn } from './useFocusReturn.ts'

type DialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: ReactNode
  width?: 'narrow' | 'medium' | 'wide'
  /** Buttons at the lower right, with the primary one last. */
  footer?: ReactNode
  /** Whether clicking outside does not close the dialog, so that no input is lost. */
  staysOpen?: boolean
  /**
   * Whether the content shows its own title across the full width. The dialog's title is then only exposed to screen
   * readers.
   */
  titledByContent?: boolean
  /** Called on Enter in a field, and by a footer button of type `submit`. */
  onSubmit?: () => void
  children?: ReactNode
}

const widths = { narrow: 'max-w-100', medium: 'max-w-120', wide: 'max-w-160' } as const

export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  width = 'medium',
  staysOpen,
  titledByContent = false,
  ...content
}: DialogProps) {
  const giveFocusBack = useFocusReturn(open)
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal container={useLayers()}>
        <Primitive.Overlay data-dialog="overlay" className="animate-fade fixed inset-0 z-40 bg-overlay" />
        <Primitive.Content
          {...(description === undefined && { 'aria-describedby': undefined })}
          data-dialog="content"
          onOpenAutoFocus={focusFirstField}
          onCloseAutoFocus={giveFocusBack}
          {...(staysOpen && { onInteractOutside: (event: Event) => event.preventDefault() })}
          className={joinClassNames(
            'animate-appear fixed top-[12vh] left-1/2 z-40 flex max-h-[80vh] low:top-4 low:max-h-[calc(100vh-2rem)] w-[calc(100%-2rem)] -translate-x-1/2 flex-col rounded-dialog bg-raised text-text shadow-dialog outline-none',
            widths[width],
          )}
        >
          {titledByContent ? (
            <>
              <Primitive.Title className="sr-only">{title}</Primitive.Title>
              {content.children}
              <CloseButton className="absolute top-2.5 right-2.5" />
            </>
          ) : (
            <>
              <header className="flex items-start gap-3 px-4 pt-3.5 pb-3">
                <div className="min-w-0 flex-1">
                  <Primitive.Title className="text-title font-semibold break-words">{title}</Primitive.Title>
                  {description !== undefined && (
                    <Primitive.Description asChild>
                      <div className="text-muted break-words">{description}</div>
                    </Primitive.Description>
                  )}
                </div>
                <CloseButton className="-mt-0.75 -mr-1.5" />
              </header>
              <DialogContent {...content} />
            </>
          )}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

function CloseButton({ className }: { className: string }) {
  return (
    <Primitive.Close asChild>
      <IconButton label="Close" icon={X} className={className} />
    </Primitive.Close>
  )
}

/** Otherwise the close button would take the focus and show its tooltip. */
function focusFirstField(event: Event): void {
  event.preventDefault()
  const content = event.currentTarget
  if (!(content instanceof HTMLElement)) return
  const field = content.querySelector<HTMLElement>('input:enabled, textarea:enabled')
  ;(field ?? content).focus()
}

function DialogContent({ footer, onSubmit, children }: Pick<DialogProps, 'footer' | 'onSubmit' | 'children'>) {
  const parts = (
    <>
      {children !== undefined && <div className="min-h-0 flex-1 overflow-auto px-4 pt-1 pb-4">{children}</div>}
      {footer !== undefined && (
        <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-3">
          {footer}
        </footer>
      )}
    </>
  )
  if (!onSubmit) return parts
  return <DialogForm onSubmit={onSubmit}>{parts}</DialogForm>
}

function DialogForm({ onSubmit, children }: { onSubmit: () => void; children: ReactNode }) {
  const { onInput } = useTouchedForm()
  return (
    <form
      noValidate
      onInput={onInput}
      className="flex min-h-0 flex-col"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
