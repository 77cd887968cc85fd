package io.kinema.cli;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a number of bytes: {@code 1073741824}, {@code 1G}, {@code 15.5GB} (powers of 1000) or {@code 8GiB} (powers of 1024). */
final class ByteCount implements ITypeConverter<Long> {
    static final String EXPECTED = "a number of bytes such as 16106127360, 15.5G or 15GiB";
    private static final Pattern FORM = Pattern.compile("(\\d{1,18}(?:\\.\\d{1,9})?)(?:([kmgt])(i?)b?|b)?");
    private static final Map<String, Integer> POWERS = Map.of("k", 1, "m", 2, "g", 3, "t", 4);

    @Override
    public Long convert(String text) {
        Matcher form = FORM.matcher(text.trim().toLowerCase(Locale.ROOT));
        if (!form.matches()) {
            throw wrong(text);
        }
        BigDecimal unit = form.group(2) == null ? BigDecimal.ONE
                : BigDecimal.valueOf(form.group(3).isEmpty() ? 1000 : 1024).pow(POWERS.get(form.group(2)));
        try {
            return new BigDecimal(form.group(1)).multiply(unit).setScale(0, java.math.RoundingMode.DOWN).longValueExact();
        } catch (ArithmeticException e) {
            throw wrong(text);
        }
    }

    private static TypeConversionException wrong(String text) {
        return new TypeConversionException("got '" + text + "', expected " + EXPECTED);
    }
}
