package io.kinema.weights;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/**
 * The JSON part of a safetensors file, read and checked against the size of the data that follows it.
 *
 * @param entries  tensors by name, in the order of their data
 * @param metadata the {@code __metadata__} strings, empty when there are none
 */
record SafetensorsHeader(SequencedMap<String, Entry> entries, Map<String, String> metadata) {
    /** The format's own limit on the length of the JSON. */
    static final long LARGEST = 100_000_000;
    /** Tensors are addressed with 32-bit element indices once they are loaded. */
    static final long MOST_ELEMENTS = Integer.MAX_VALUE;
    private static final int MOST_AXES = 32;
    private static final int DEEPEST = 8;
    private static final JsonFactory JSON = new JsonFactoryBuilder()
            // The format says UTF-8; guessing would let a second reading of the same bytes in.
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(DEEPEST).maxNumberLength(32)
                    .maxStringLength((int) LARGEST).build())
            .build();

    /** One tensor: {@code data} bytes [begin, end). */
    record Entry(String name, DType dtype, Shape shape, long begin, long end) {
    }

    /**
     * @param json     the header's bytes
     * @param dataSize bytes in the file after the header
     * @param file     for messages
     * @throws BadWeightsException when any rule of the format is broken
     */
    static SafetensorsHeader parse(byte[] json, long dataSize, Path file) {
        return new Reader(file).read(json, dataSize);
    }

    /** State of one parse. */
    private static final class Reader {
        private final Path file;
        private final List<Entry> entries = new ArrayList<>();
        private final Set<String> seen = new HashSet<>();
        private final Map<String, String> metadata = new HashMap<>();

        Reader(Path file) {
            this.file = file;
        }

        SafetensorsHeader read(byte[] json, long dataSize) {
            if (json.length == 0 || json[0] != '{') {
                throw bad("the header does not start with '{'; this is not a safetensors file");
            }
            try (JsonParser p = JSON.createParser(json)) {
                p.nextToken();
                while (p.nextToken() != JsonToken.END_OBJECT) {
                    field(p);
                }
                if (p.nextToken() != null) {
                    throw bad("got more text after the header's object, expected only spaces; download the file again");
                }
            } catch (JsonProcessingException e) {
                throw new BadWeightsException(file + ": the header is not valid JSON (" + e.getOriginalMessage() + "); download the file again", e);
            } catch (IOException e) {
                throw new BadWeightsException(file + ": the header is not readable text (" + e.getMessage() + "); download the file again", e);
            }
            return new SafetensorsHeader(laidOut(dataSize), Map.copyOf(metadata));
        }

        private void field(JsonParser p) throws IOException {
            String name = p.currentName();
            if (!seen.add(name)) {
                throw bad("tensor " + name + ": the name appears twice in the header, expected each once; write the file again");
            }
            JsonToken value = p.nextToken();
            if (name.equals("__metadata__")) {
                metadata(p, value);
            } else {
                entries.add(tensor(p, value, name));
            }
        }

        private void metadata(JsonParser p, JsonToken value) throws IOException {
            if (value == JsonToken.VALUE_NULL) {
                return;
            }
            if (value != JsonToken.START_OBJECT) {
                throw bad("__metadata__: got " + p.getText() + ", expected an object of strings");
            }
            while (p.nextToken() != JsonToken.END_OBJECT) {
                String key = p.currentName();
                if (p.nextToken() != JsonToken.VALUE_STRING) {
                    throw bad("__metadata__ " + key + ": got " + p.getText() + ", expected a string");
                }
                if (metadata.put(key, p.getText()) != null) {
                    throw bad("__metadata__ " + key + ": the key appears twice, expected once");
                }
            }
        }

        private Entry tensor(JsonParser p, JsonToken value, String name) throws IOException {
            if (value != JsonToken.START_OBJECT) {
                throw bad(name, "got " + p.getText() + ", expected an object with dtype, shape and data_offsets");
            }
            Optional<DType> dtype = Optional.empty();
            Optional<long[]> shape = Optional.empty();
            Optional<long[]> offsets = Optional.empty();
            Set<String> keys = new HashSet<>();
            while (p.nextToken() != JsonToken.END_OBJECT) {
                String key = p.currentName();
                if (!keys.add(key)) {
                    throw bad(name, "the key " + key + " appears twice, expected once");
                }
                JsonToken v = p.nextToken();
                switch (key) {
                    case "dtype" -> dtype = Optional.of(dtype(p, v, name));
                    case "shape" -> shape = Optional.of(numbers(p, v, name, key, MOST_AXES));
                    case "data_offsets" -> offsets = Optional.of(numbers(p, v, name, key, 2));
                    default -> p.skipChildren();
                }
            }
            return checked(name, dtype.orElseThrow(() -> bad(name, "the header gives no dtype")),
                    shape.orElseThrow(() -> bad(name, "the header gives no shape")),
                    offsets.orElseThrow(() -> bad(name, "the header gives no data_offsets")));
        }

        private DType dtype(JsonParser p, JsonToken value, String name) throws IOException {
            String text = value == JsonToken.VALUE_STRING ? p.getText() : "";
            return DType.named(text).orElseThrow(() -> bad(name, "got dtype " + shown(p) + ", expected one of "
                    + List.of(DType.values()) + "; convert the file to one of these"));
        }

        private long[] numbers(JsonParser p, JsonToken value, String name, String key, int most) throws IOException {
            if (value != JsonToken.START_ARRAY) {
                throw bad(name, key + " is " + p.getText() + ", expected a list of integers");
            }
            long[] out = new long[most];
            int n = 0;
            while (p.nextToken() != JsonToken.END_ARRAY) {
                if (n == most) {
                    throw bad(name, key + " has more than " + most + " numbers");
                }
                if (p.currentToken() != JsonToken.VALUE_NUMBER_INT || p.getNumberType() == JsonParser.NumberType.BIG_INTEGER || p.getLongValue() < 0) {
                    throw bad(name, key + " holds " + p.getText() + ", expected integers from 0 to 2^63 - 1");
                }
                out[n++] = p.getLongValue();
            }
            return Arrays.copyOf(out, n);
        }

        private Entry checked(String name, DType dtype, long[] dims, long[] offsets) {
            if (offsets.length != 2 || offsets[0] > offsets[1]) {
                throw bad(name, "data_offsets are " + Arrays.toString(offsets) + ", expected [begin, end] with begin <= end");
            }
            long count = 1;
            for (long d : dims) {
                count = d == 0 || count == 0 ? 0 : count > MOST_ELEMENTS / d ? MOST_ELEMENTS + 1 : count * d;
            }
            if (count > MOST_ELEMENTS) {
                throw bad(name, "shape " + Arrays.toString(dims) + " has more than " + MOST_ELEMENTS + " elements; split the tensor");
            }
            long span = offsets[1] - offsets[0];
            if (span != count * dtype.bytes()) {
                throw bad(name, "data_offsets " + Arrays.toString(offsets) + " span " + span + " bytes, expected "
                        + count * dtype.bytes() + " for " + dtype + Arrays.toString(dims) + "; download the file again");
            }
            try {
                return new Entry(name, dtype, Shape.of(dims), offsets[0], offsets[1]);
            } catch (IllegalArgumentException e) {
                throw new BadWeightsException(file + ": tensor " + name + ": " + e.getMessage(), e);
            }
        }

        /** The format wants the data covered from its first byte to its last, without holes and without overlaps. */
        private SequencedMap<String, Entry> laidOut(long dataSize) {
            entries.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end).thenComparing(Entry::name));
            SequencedMap<String, Entry> map = new LinkedHashMap<>();
            long at = 0;
            for (Entry e : entries) {
                if (e.end() > dataSize) {
                    throw bad(e.name(), "data ends at byte " + e.end() + " but the file holds " + dataSize
                            + " bytes of data; the file is short (a download that did not finish?), fetch it again");
                }
                if (e.begin() != at) {
                    throw bad(e.name(), "data begins at byte " + e.begin() + ", expected " + at + " ("
                            + (e.begin() < at ? "it overlaps the tensor before it" : "a hole before it") + "); write the file again");
                }
                at = e.end();
                map.put(e.name(), e);
            }
            if (at != dataSize) {
                throw bad("the tensors end at byte " + at + " of the data, but the file holds " + dataSize + "; download the file again");
            }
            return map;
        }

        private static String shown(JsonParser p) {
            try {
                return p.getText();
            } catch (IOException e) {
                return "unreadable text";
            }
        }

        private BadWeightsException bad(String what) {
            return new BadWeightsException(file + ": " + what);
        }

        private BadWeightsException bad(String tensor, String what) {
            return new BadWeightsException(file + ": tensor " + tensor + ": " + what);
        }
    }
}
