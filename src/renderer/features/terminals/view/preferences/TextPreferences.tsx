import { useState } from 'react'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { NumberField, validateNumber } from '#renderer/ui/NumberField.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { PreferenceGroup, type PreferencePart } from './PreferenceGroup.tsx'
import { contrasts, fontSizes, letterSpacings, lineHeights, scrollbacks } from './terminalPreferences.ts'

const contrastNames: Record<string, string> = { 1: 'Set by programs', 4.5: 'Readable (4.5)', 7: 'High (7)' }
const count = new Intl.NumberFormat('en')

export function TextPreferences({ preferences, onChange }: PreferencePart) {
  // An incomplete size, such as the 1 of 14, is not applied.
  const [wrongSize, setWrongSize] = useState<number>()
  const takeSize = (fontSize: number) => {
    const isWrong = validateNumber(fontSize, { min: fontSizes.smallest, max: fontSizes.largest }) !== undefined
    setWrongSize(isWrong ? fontSize : undefined)
    if (!isWrong) onChange({ fontSize })
  }
  return (
    <>
      <PreferenceGroup title="Text">
        <div className="grid grid-cols-2 gap-3.5 narrow:grid-cols-4">
          <NumberField
            label="Size"
            unit="px"
            min={fontSizes.smallest}
            max={fontSizes.largest}
            value={wrongSize ?? preferences.fontSize}
            onChange={takeSize}
          />
          <Select
            label="Line height"
            value={String(preferences.lineHeight)}
            onChange={(lineHeight) => onChange({ lineHeight: Number(lineHeight) })}
            options={lineHeights.map((value) => ({
              value: String(value),
              label: value === 1 ? 'Tight' : `× ${value}`,
            }))}
          />
          <Select
            label="Letter spacing"
            value={String(preferences.letterSpacing)}
            onChange={(letterSpacing) => onChange({ letterSpacing: Number(letterSpacing) })}
            options={letterSpacings.map((value) => ({
              value: String(value),
              label: value === 0 ? 'No results' : `${value} px`,
            }))}
          />
          <Select
            label="Contrast"
            value={String(preferences.minimumContrast)}
            onChange={(minimumContrast) => onChange({ minimumContrast: Number(minimumContrast) })}
            options={contrasts.map((value) => ({ value: String(value), label: contrastNames[value] ?? String(value) }))}
          />
        </div>
      </PreferenceGroup>
      <PreferenceGroup title="Cursor and scrolling">
        <div className="grid grid-cols-2 gap-3.5">
          <Select
            label="Cursor"
            value={preferences.cursorStyle}
            onChange={(cursorStyle) => onChange({ cursorStyle })}
            options={[
              { value: 'block', label: 'Block' },
              { value: 'bar', label: 'Bar' },
              { value: 'underline', label: 'Underline' },
            ]}
          />
          <Select
            label="Scrollback lines"
            value={String(preferences.scrollback)}
            onChange={(scrollback) => onChange({ scrollback: Number(scrollback) })}
            options={scrollbacks.map((value) => ({
              value: String(value),
              label: value === 0 ? 'No results' : count.format(value),
            }))}
          />
        </div>
        <Checkbox
          label="Blinking cursor"
          checked={preferences.cursorBlink}
          onChange={(cursorBlink) => onChange({ cursorBlink })}
        />
        <Checkbox
          label="Smooth scrolling"
          checked={preferences.smoothScroll}
          onChange={(smoothScroll) => onChange({ smoothScroll })}
        />
      </PreferenceGroup>
    </>
  )
}
